package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job"
)

// items is the number of parts that the orders are split into.
const items = 4

type order struct{ id, cents int64 }

// shop pays orders. It is what an instance of the job does.
type shop struct {
	db   *sql.DB
	name string // of the instance
}

// fetch returns the next orders of an item that are not paid. The cursor is the id of the last
// order of a batch. All new orders have a larger id.
func (s shop) fetch(ctx context.Context, sc job.ShardingContext, after int64, size int) (orders []order, last int64, err error) {
	rows, err := s.db.QueryContext(ctx, `
		SELECT id, cents FROM orders WHERE id > ? AND id % ? = ? AND state = 'new' ORDER BY id LIMIT ?`,
		after, sc.Total, sc.Item, size)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.id, &o.cents); err != nil {
			return nil, 0, err
		}
		orders, last = append(orders, o), o.id
	}
	return orders, last, rows.Err()
}

// errLost: an execution with a larger token has written. This one has lost its item, although
// it may not know yet.
var errLost = errors.New("refused: somebody else has the item now")

// process pays orders: all of them or, if it fails, none.
//
// It passes its fencing token to whatever it writes. The row of the item in shares refuses an
// execution that is older than the last one that has written there. That alone is enough if all
// writes of a batch are one transaction. The orders have fences, too, because other programs
// may write to one of them without that row.
func (s shop) process(ctx context.Context, sc job.ShardingContext, orders []order) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing is left to roll back after Commit
	var cents int64
	for _, o := range orders {
		cents += o.cents
	}
	err = one(tx.ExecContext(ctx, `
		UPDATE shares SET cents = cents + ?, fence = ? WHERE item = ? AND fence <= ?`,
		cents, sc.Token, sc.Item, sc.Token))
	if err != nil {
		return fmt.Errorf("share %d: %w", sc.Item, err)
	}
	for _, o := range orders {
		err := one(tx.ExecContext(ctx, `
			UPDATE orders SET state = 'done', fence = ? WHERE id = ? AND state = 'new' AND fence <= ?`,
			sc.Token, o.id, sc.Token))
		if err != nil {
			return fmt.Errorf("order %d: %w", o.id, err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO payments (order_id, cents, instance) VALUES (?, ?, ?)`, o.id, o.cents, s.name)
		if err != nil {
			return fmt.Errorf("payment of order %d: %w", o.id, err)
		}
	}
	return tx.Commit()
}

// one checks that a statement has affected one row.
func one(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	if err == nil && rows != 1 {
		err = errLost
	}
	return err
}
