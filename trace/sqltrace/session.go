package sqltrace

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// querier is a connection, or a transaction on one.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// connect runs do on a connection of its own that takes and gives times in UTC, and refuses texts
// that it cannot keep.
func (t *Tracer) connect(ctx context.Context, do func(*sql.Conn) error) error {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	setup := ""
	switch t.dialect {
	case MySQL:
		// UTC is for TIMESTAMP; whoever uses the pool, too, sees it. A server that is not strict writes ? for what a
		// column's character set does not have, and says nothing.
		setup = "SET time_zone = '+00:00', sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_TRANS_TABLES')"
	case PostgreSQL: // otherwise it is that of the database, which then takes the bytes for other characters
		setup = "SET client_encoding = 'UTF8'"
	case SQLite: // how long it waits by itself, in milliseconds, deaf to ctx; see patiently
		setup = "PRAGMA busy_timeout = 200"
	}
	if setup != "" {
		if _, err := conn.ExecContext(ctx, setup); err != nil {
			return fmt.Errorf("%s: %w", setup, err)
		}
	}
	return do(conn)
}

// transact runs do in a transaction.
func (t *Tracer) transact(ctx context.Context, do func(querier) error) error {
	return t.connect(ctx, func(conn *sql.Conn) error { return t.transactOn(ctx, conn, do) })
}

func (t *Tracer) transactOn(ctx context.Context, conn *sql.Conn, do func(querier) error) error {
	if t.dialect == SQLite {
		return immediate(ctx, conn, do)
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // without a commit it is rolled back in any case
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// immediate takes the right to write at the beginning. A transaction of SQLite that asks for
// it later fails at once if another one has written meanwhile.
func immediate(ctx context.Context, conn *sql.Conn, do func(querier) error) error {
	if err := patiently(ctx, conn, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := do(conn)
	if err == nil {
		if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
		err = fmt.Errorf("commit: %w", err)
	}
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, undo := conn.ExecContext(ended, "ROLLBACK"); undo != nil {
		// SQLite has ended the transaction itself, or the connection is of no use.
		discard(conn)
	}
	return err
}

// busyPause is for what is busy without a wait of SQLite's own.
const busyPause = 5 * time.Millisecond

// patiently runs a statement of SQLite that has to wait while others write, until ctx ends.
func patiently(ctx context.Context, conn *sql.Conn, statement string) error {
	for {
		_, err := conn.ExecContext(ctx, statement)
		if !isBusy(err) || !sleep.For(ctx, busyPause) {
			return err
		}
	}
}

// discard has the pool close a connection.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // that is its answer
}

// moment returns a time as the columns of kindTime take it.
func (d Dialect) moment(at time.Time) any {
	at = inYears(at.UTC())
	switch first, last := time.Unix(1, 0).UTC(), time.Unix(math.MaxInt32, 0).UTC(); {
	case d == PostgreSQL:
		return at
	case d == MySQL && at.Before(first): // what TIMESTAMP can hold
		at = first
	case d == MySQL && at.After(last):
		at = last
	}
	return at.Format("2006-01-02 15:04:05.000000")
}

// inYears returns a time of the years 1 to 9999: all databases know them, and as texts they have
// the order that they have as times.
func inYears(at time.Time) time.Time {
	first, last := time.Time{}, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Microsecond)
	switch {
	case at.Before(first):
		return first
	case at.After(last):
		return last
	}
	return at
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
