-- Orders belong to a shard by their id. Each shard is an item of the jobs.
CREATE TABLE IF NOT EXISTS orders (
	id      INTEGER PRIMARY KEY,
	shard   INTEGER NOT NULL,
	city    TEXT    NOT NULL,
	cents   INTEGER NOT NULL,
	settled INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS orders_open ON orders (shard) WHERE NOT settled;

-- What was settled in each shard. The fence is the token of the execution that has written last.
CREATE TABLE IF NOT EXISTS shards (
	shard INTEGER PRIMARY KEY,
	cents INTEGER NOT NULL DEFAULT 0,
	fence INTEGER NOT NULL DEFAULT 0
);
INSERT OR IGNORE INTO shards (shard) VALUES (0), (1), (2), (3);

-- What was ordered from each city, by shard. rebuild writes it.
CREATE TABLE IF NOT EXISTS reports (
	city  TEXT    NOT NULL,
	shard INTEGER NOT NULL,
	cents INTEGER NOT NULL,
	fence INTEGER NOT NULL,
	PRIMARY KEY (city, shard)
);

-- A thousand orders, so that there is something to do.
INSERT OR IGNORE INTO orders (id, shard, city, cents)
WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 1000)
SELECT id, id % 4, CASE id / 4 % 3 WHEN 0 THEN 'Beijing' WHEN 1 THEN 'Shanghai' ELSE 'Guangzhou' END, 100 + id * 7919 % 9900 FROM n;
