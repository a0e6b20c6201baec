package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	_ "modernc.org/sqlite" // the driver
)

// create makes the tables, with orders of 1 to 99.99 to pay.
func create(ctx context.Context, file string, orders, items int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return nil, err
	}
	// SQLite lets one write at a time. So all wait for one connection, and not for a lock.
	db.SetMaxOpenConns(1)
	for _, statement := range []struct {
		text string
		args []any
	}{
		{`PRAGMA synchronous = off`, nil}, // the orders of an example need not survive a power cut
		{`CREATE TABLE orders (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL, state TEXT NOT NULL, fence INTEGER NOT NULL)`, nil},
		{`CREATE TABLE shares (item INTEGER PRIMARY KEY, cents INTEGER NOT NULL, fence INTEGER NOT NULL)`, nil},
		// Nothing in this table refuses a second payment of an order.
		{`CREATE TABLE payments (order_id INTEGER NOT NULL, cents INTEGER NOT NULL, instance TEXT NOT NULL)`, nil},
		{`WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
			INSERT INTO orders SELECT id, 100 + id * 7919 % 9900, 'new', 0 FROM n`, []any{orders}},
		{`WITH RECURSIVE n(item) AS (SELECT 0 UNION ALL SELECT item + 1 FROM n WHERE item < ? - 1)
			INSERT INTO shares SELECT item, 0, 0 FROM n`, []any{items}},
	} {
		if _, err := db.ExecContext(ctx, statement.text, statement.args...); err != nil {
			return nil, errors.Join(fmt.Errorf("create %s: %w", file, err), db.Close())
		}
	}
	return db, nil
}

// check asks the tables whether each order was paid exactly once, and says who has paid.
func check(ctx context.Context, db *sql.DB, out io.Writer) error {
	var c struct{ orders, done, payments, once, ordered, paid, shared int64 }
	err := db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM orders),
		(SELECT count(*) FROM orders WHERE state = 'done'),
		(SELECT count(*) FROM payments),
		(SELECT count(*) FROM orders WHERE (id, cents, 1) IN (SELECT order_id, cents, count(*) FROM payments GROUP BY order_id)),
		(SELECT sum(cents) FROM orders),
		(SELECT coalesce(sum(cents), 0) FROM payments),
		(SELECT sum(cents) FROM shares)`).
		Scan(&c.orders, &c.done, &c.payments, &c.once, &c.ordered, &c.paid, &c.shared)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if err := whoPaid(ctx, db, out); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	fmt.Fprintf(out, "%d orders: %d are done, %d have exactly one payment, there are %d payments\n", c.orders, c.done, c.once, c.payments)
	fmt.Fprintf(out, "cents: %d ordered, %d paid, %d in the shares of the items\n", c.ordered, c.paid, c.shared)
	if c.done != c.orders || c.once != c.orders || c.payments != c.orders || c.paid != c.ordered || c.shared != c.ordered {
		return errors.New("not every order was paid exactly once")
	}
	fmt.Fprintln(out, "every order was paid exactly once")
	return nil
}

func whoPaid(ctx context.Context, db *sql.DB, out io.Writer) (err error) {
	rows, err := db.QueryContext(ctx, `SELECT instance, count(*), sum(cents) FROM payments GROUP BY instance ORDER BY instance`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\ninstance\torders\tcents\n")
	for rows.Next() {
		var name string
		var orders, cents int64
		if err := rows.Scan(&name, &orders, &cents); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%d\t%d\n", name, orders, cents)
	}
	fmt.Fprintln(w)
	return errors.Join(rows.Err(), w.Flush())
}
