package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	_ "modernc.org/sqlite" // the driver
)

// shop does the work of a shard. It passes its token to what it writes.
type shop struct{ db *sql.DB }

//go:embed schema.sql
var schema string

func open(ctx context.Context, file string) (shop, error) {
	db, err := sql.Open("sqlite", file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err == nil {
		db.SetMaxOpenConns(1) // SQLite lets one write at a time
		_, err = db.ExecContext(ctx, schema)
	}
	return shop{db}, err
}

// jobs returns the configurations of both jobs. Their items are the shards of the tables.
func jobs() (settle, rebuild job.Config) {
	settle = job.Config{
		Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 4, Failover: true, Timeout: time.Minute,
		ErrorHandler: "LOG,WEBHOOK", Props: map[string]string{"webhook.url": "${env:ALERT_URL}"}, // the registry has no secrets
	}
	rebuild = settle
	rebuild.Name, rebuild.Cron = "rebuild", "" // it runs when it is asked to
	return settle, rebuild
}

// settle adds the open orders of a shard up. If this execution was cut off, and another one has
// begun meanwhile, the fence is larger than its token, and nothing is changed.
func (s shop) settle(ctx context.Context, sc job.ShardingContext) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to roll back after Commit
	err = one(tx.ExecContext(ctx, `
		UPDATE shards SET fence = ?, cents = cents + (SELECT coalesce(sum(cents), 0) FROM orders WHERE shard = ? AND NOT settled)
		WHERE shard = ? AND fence <= ?`, sc.Token, sc.Item, sc.Item, sc.Token))
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE orders SET settled = TRUE WHERE shard = ? AND NOT settled`, sc.Item)
	}
	if err != nil {
		return fmt.Errorf("shard %d: %w", sc.Item, err)
	}
	job.Logger(ctx).Info("settled")
	return tx.Commit()
}

// rebuild writes the part of a shard in the report of a city, which is the parameter of the request.
func (s shop) rebuild(ctx context.Context, sc job.ShardingContext) error {
	err := one(s.db.ExecContext(ctx, `
		INSERT INTO reports SELECT city, shard, sum(cents), ? FROM orders WHERE city = ? AND shard = ? GROUP BY city
		ON CONFLICT DO UPDATE SET cents = excluded.cents, fence = excluded.fence WHERE fence <= excluded.fence`,
		sc.Token, sc.JobParameter, sc.Item))
	if err != nil {
		err = fmt.Errorf("report of %q: %w", sc.JobParameter, err)
	}
	return err
}

// one checks that a statement has changed a row.
func one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if rows, err := r.RowsAffected(); err != nil || rows > 0 {
		return err
	}
	return errors.New("there is no such row, or a later execution has written it")
}
