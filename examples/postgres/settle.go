// Package postgres is a job that settles orders in PostgreSQL, shard by shard, so that each order counts once
// whatever happens to the processes. The test shows that, with package jobtest in real time and a real server.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Job is the configuration. A transaction that PostgreSQL refuses, because another one has changed the same rows
// (SQLSTATE 40001), is tried again.
func Job() job.Config {
	return job.Config{
		Name: "settle", Cron: "0 0 3 * * ?", TimeZone: "UTC", ShardingTotalCount: 2, Failover: true,
		Retry: job.Retry{Attempts: 3, InitialBackoff: 100 * time.Millisecond},
	}
}

// Schema has orders, each of a shard, and what was settled in each shard. The fence is the token of the execution
// that has written last.
const Schema = `
CREATE TABLE shards (shard INT PRIMARY KEY, cents BIGINT NOT NULL DEFAULT 0, fence BIGINT NOT NULL DEFAULT 0);
CREATE TABLE orders (id SERIAL PRIMARY KEY, shard INT NOT NULL REFERENCES shards, cents BIGINT NOT NULL, settled BOOLEAN NOT NULL DEFAULT FALSE);`

// ErrFenced is the error of an execution that was late: another one has written since.
var ErrFenced = errors.New("not written: a later execution has this shard")

// Settle returns the handler. It adds the open orders of a shard up and marks them, in one transaction, unless a
// later execution has written: docs/start/effects-once.md says why.
func Settle(db *sql.DB) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		if err := settle(ctx, db, sc); err != nil {
			return fmt.Errorf("shard %d: %w", sc.Item, err)
		}
		return nil
	}
}

func settle(ctx context.Context, db *sql.DB, sc job.ShardingContext) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}) // both statements see the same orders
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to roll back after Commit
	done, err := tx.ExecContext(ctx, `UPDATE shards SET fence = $1, cents = cents +
		(SELECT coalesce(sum(cents), 0) FROM orders WHERE shard = $2 AND NOT settled) WHERE shard = $2 AND fence <= $1`,
		sc.Token, sc.Item)
	if err != nil {
		return err
	}
	switch rows, err := done.RowsAffected(); {
	case err != nil:
		return err
	case rows == 0:
		return job.NoRetry(ErrFenced)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE orders SET settled = TRUE WHERE shard = $1 AND NOT settled`, sc.Item); err != nil {
		return err
	}
	return tx.Commit()
}
