package sqltrace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Retention bounds what is kept, also of what JVMs have written. The oldest rows of each table
// go first.
type Retention struct {
	// Age is how long rows are kept, by the clock of this process. 0 means for ever.
	Age time.Duration
	// Rows is how many rows of each table are kept; rows of the same second may be more. 0
	// means all.
	Rows int64
	// Every is the time between two passes; the default is 10 minutes. Of all processes one makes
	// a pass, whose turn it happens to be.
	Every time.Duration
}

// Removed is how many rows are gone.
type Removed struct{ Executions, Statuses, Events, Lines, Counts int64 }

const (
	defaultEvery = 10 * time.Minute
	// removeAtOnce is how many rows a transaction removes, and removePause is the time between
	// two of them: those who write have the database to themselves in between.
	removeAtOnce = 1000
	removePause  = 50 * time.Millisecond
)

func (r Retention) bounded() bool { return r.Age > 0 || r.Rows > 0 }

func (r Retention) check() error {
	if r.Age < 0 || r.Rows < 0 || r.Every < 0 {
		return fmt.Errorf("age %v, rows %d, every %v: 0 or more are allowed", r.Age, r.Rows, r.Every)
	}
	if r.Every > 0 && r.Every < time.Second {
		return fmt.Errorf("every %v: a second or more is allowed", r.Every)
	}
	return nil
}

// retain makes passes until ctx ends. The first one comes within the first interval: a process may
// not live for long, and others start at the same time.
func (t *Tracer) retain(ctx context.Context) {
	every := cmp.Or(t.o.Retention.Every, defaultEvery)
	for wait := rand.N(every); sleep.For(ctx, wait); wait = every {
		pass, cancel := context.WithTimeout(ctx, every)
		removed, err := t.pass(pass, every)
		cancel()
		if ctx.Err() != nil {
			return
		}
		t.note(func(s *Stats) { s.RetentionFailed = err })
		if t.dialect.trouble(err) == troubleSchema {
			t.forget() // the next one makes what is missing
		}
		if err != nil && t.sayNow("retention") {
			t.log.Error("old rows of the history could not be removed", slog.Any("error", brief.Error(err)))
		}
		if removed != (Removed{}) {
			t.log.Info("old rows of the history are removed", slog.Int64("executions", removed.Executions),
				slog.Int64("statuses", removed.Statuses), slog.Int64("events", removed.Events), slog.Int64("lines", removed.Lines), slog.Int64("counts", removed.Counts))
		}
	}
}

// pass is [Tracer.Retain], unless another process has done it since a while.
func (t *Tracer) pass(ctx context.Context, every time.Duration) (Removed, error) {
	if err := t.ready(ctx); err != nil {
		return Removed{}, fmt.Errorf("sqltrace: %v: %w", t.dialect, err)
	}
	mine, err := t.takeTurn(ctx, every)
	if err != nil {
		return Removed{}, fmt.Errorf("sqltrace: %v: whose turn it is to remove old rows: %w", t.dialect, err)
	}
	if !mine {
		return Removed{}, nil
	}
	return t.Retain(ctx)
}

// takeTurn reports whether no process has made a pass for almost that long; then this one does.
// A time that lies ahead is that of a wrong clock, and does not count.
func (t *Tracer) takeTurn(ctx context.Context, every time.Duration) (mine bool, err error) {
	now := time.Now()
	err = t.transact(ctx, func(tx querier) error {
		result, err := tx.ExecContext(ctx, t.dialect.bind("UPDATE "+tableSchema+" SET retained_micros = ?"+
			" WHERE version = ? AND (retained_micros IS NULL OR retained_micros < ? OR retained_micros > ?)"),
			now.UnixMicro(), schemaVersion, now.Add(-every*9/10).UnixMicro(), now.Add(every).UnixMicro())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if mine = n > 0; mine || err != nil {
			return err
		}
		var there int
		query := t.dialect.bind("SELECT COUNT(*) FROM " + tableSchema + " WHERE version = ?")
		if err := tx.QueryRowContext(ctx, query, schemaVersion).Scan(&there); err != nil || there > 0 {
			return err
		}
		t.forget() // somebody has emptied it; the next pass fills it again
		return fmt.Errorf("table %s: %w", tableSchema, errNoVersion)
	})
	return mine, err
}

// errNoVersion says that the row is not there which has the time of the last pass.
var errNoVersion = errors.New("it has no row for this version")

// Retain removes what [Retention] does not keep, once and now, and returns how many rows went,
// with an error too. If another process is at it, it returns early.
func (t *Tracer) Retain(ctx context.Context) (removed Removed, err error) {
	if err := t.ready(ctx); err != nil {
		return removed, fmt.Errorf("sqltrace: %v: %w", t.dialect, err)
	}
	defer func() {
		t.note(func(s *Stats) {
			s.Passes++
			s.Removed.add(removed)
		})
	}()
	for _, of := range tables() {
		err := t.removeOld(ctx, of, removed.of(of.name))
		if errors.Is(err, errLocked) {
			return removed, nil
		}
		if err != nil {
			return removed, fmt.Errorf("sqltrace: %v: remove old rows of %s: %w", t.dialect, of.name, err)
		}
	}
	return removed, nil
}

func (r *Removed) of(table string) *int64 {
	switch table {
	case tableExecution:
		return &r.Executions
	case tableStatus:
		return &r.Statuses
	case tableEvent:
		return &r.Events
	case tableCount:
		return &r.Counts
	}
	return &r.Lines
}

func (r *Removed) add(more Removed) {
	r.Executions += more.Executions
	r.Statuses += more.Statuses
	r.Events += more.Events
	r.Lines += more.Lines
	r.Counts += more.Counts
}

// removeOld counts in removed what it removes.
func (t *Tracer) removeOld(ctx context.Context, of table, removed *int64) error {
	r := t.o.Retention
	if r.Age > 0 {
		before := time.Now().Add(-r.Age)
		oldest := t.dialect.moment(before)
		if of.columns[of.position(of.since)].kind == kindBigint {
			oldest = before.UnixMicro()
		}
		if err := t.removeBefore(ctx, of, oldest, removed); err != nil {
			return err
		}
	}
	if r.Rows == 0 {
		return nil
	}
	oldest, err := t.oldestKept(ctx, of)
	if err != nil || oldest == nil {
		return err
	}
	return t.removeBefore(ctx, of, oldest, removed)
}

// oldestKept returns the time of the oldest of the newest rows; nil if there are not that many.
func (t *Tracer) oldestKept(ctx context.Context, of table) (oldest any, err error) {
	c := of.columns[of.position(of.since)]
	text := of.since
	if c.kind == kindTime {
		// A driver may make a time in another zone of it.
		text = "CAST(" + of.since + " AS CHAR(26))"
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL ORDER BY %s DESC LIMIT 1 OFFSET %d",
		text, of.name, of.since, of.since, t.o.Retention.Rows-1)
	err = t.connect(ctx, func(conn *sql.Conn) error {
		row := conn.QueryRowContext(ctx, query)
		if c.kind == kindBigint {
			var at int64
			err := row.Scan(&at)
			oldest = at
			return err
		}
		var at string
		err := row.Scan(&at)
		oldest = at
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return oldest, err
}

// removeBefore removes the rows that are older.
func (t *Tracer) removeBefore(ctx context.Context, of table, oldest any, removed *int64) error {
	statement := t.dialect.bind(t.dialect.remove(of))
	for {
		var n int64
		err := t.alone(ctx, func(tx querier) error {
			result, err := tx.ExecContext(ctx, statement, oldest)
			if err != nil {
				return err
			}
			n, err = result.RowsAffected()
			return err
		})
		if err != nil {
			return err
		}
		*removed += n
		if n < removeAtOnce {
			return nil
		}
		if !sleep.For(ctx, removePause) {
			return ctx.Err()
		}
	}
}

// remove returns the statement that removes the oldest rows before its argument.
func (d Dialect) remove(of table) string {
	old := fmt.Sprintf("WHERE %s < ? ORDER BY %s LIMIT %d", of.since, of.since, removeAtOnce)
	switch d {
	case SQLite:
		return "DELETE FROM " + of.name + " WHERE rowid IN (SELECT rowid FROM " + of.name + " " + old + ")"
	case PostgreSQL:
		return "DELETE FROM " + of.name + " WHERE ctid = ANY (ARRAY(SELECT ctid FROM " + of.name + " " + old + "))"
	}
	return "DELETE FROM " + of.name + " " + old
}

// alone runs do in a transaction if no other process is in one; otherwise it returns errLocked.
func (t *Tracer) alone(ctx context.Context, do func(querier) error) error {
	switch t.dialect {
	case MySQL:
		return t.connect(ctx, func(conn *sql.Conn) error {
			return withNamedLock(ctx, conn, lockRetain, 0, func() error { return t.transactOn(ctx, conn, do) })
		})
	case PostgreSQL:
		return t.transact(ctx, func(tx querier) error {
			var got bool
			if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(lockRetain)).Scan(&got); err != nil {
				return fmt.Errorf("lock: %w", err)
			}
			if !got {
				return errLocked
			}
			return do(tx)
		})
	}
	return t.transact(ctx, do) // the only one that writes
}
