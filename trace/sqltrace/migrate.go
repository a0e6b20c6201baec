package sqltrace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// schemaVersion is that of the tables as this package knows them: the data in schema.go. What is
// missing of them is added, whatever was there before. A version that has to do more than that
// brings what it rewrites, for those that come from an earlier one.
//
//   - 2: execution_source has ElasticJob's constants only, and run_source ours; no status has no source
const schemaVersion = 2

// ErrNewerSchema says that a later version of this package has migrated the database.
var ErrNewerSchema = errors.New("sqltrace: the schema is newer than this program knows")

const (
	// lookBound bounds the look whether there is anything to do.
	lookBound = 30 * time.Second
	// migrateBound bounds a migration. An index on tables that JVMs have filled for years takes
	// long; the batches wait in the recorder.
	migrateBound = time.Hour
)

// migration is one that runs in the background, or has ended.
type migration struct {
	done chan struct{}
	err  error // once done is closed
}

// Migrate makes the tables what this version needs, if they are not yet. Write does so by
// itself. Many processes may do so at a time: one works, the others wait for it. What is there
// stays; see the package comment for what is added. [ErrNewerSchema] is returned if a later
// version was here.
func (t *Tracer) Migrate(ctx context.Context) error {
	if err := t.migrate(ctx); err != nil {
		return fmt.Errorf("sqltrace: %v: migrate: %w", t.dialect, err)
	}
	m := &migration{done: make(chan struct{})}
	close(m.done)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = m
	return nil
}

// ready waits until the tables are there. The migration goes on in the background if ctx ends
// before, because the time that a batch has may be too short for it.
func (t *Tracer) ready(ctx context.Context) error {
	m := t.migration()
	select {
	case <-m.done:
		return m.err
	case <-ctx.Done():
		return fmt.Errorf("migration under way: %w", ctx.Err())
	}
}

// migration returns the one under way or the last one that has succeeded; otherwise it begins
// another one.
func (t *Tracer) migration() *migration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.current; m != nil {
		select {
		case <-m.done:
			if m.err == nil {
				return m
			}
		default:
			return m
		}
	}
	m := &migration{done: make(chan struct{})}
	if err := t.life.Err(); err != nil {
		m.err = fmt.Errorf("the tracer is closed: %w", err)
		close(m.done)
		return m
	}
	t.current = m
	t.wait.Go(func() {
		ctx, cancel := context.WithTimeout(t.life, migrateBound)
		defer cancel()
		defer close(m.done)
		if err := t.migrate(ctx); err != nil {
			m.err = fmt.Errorf("migrate: %w", err)
		}
	})
	return m
}

// forget has the next batch look at the tables again.
func (t *Tracer) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = nil
}

// migrate looks first, without a lock: a program may have no right to change tables, and need none.
func (t *Tracer) migrate(ctx context.Context) error {
	var missing bool
	var there survey
	look, cancel := context.WithTimeout(ctx, lookBound)
	defer cancel()
	err := t.connect(look, func(conn *sql.Conn) error {
		version, err := t.version(look, conn)
		if err != nil {
			return err
		}
		there, err = t.survey(look, conn)
		missing = version < schemaVersion || len(there.changes) > 0
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range there.lossy {
		t.log.Warn("a table of the history cannot have all characters; those that it has not become ?", slog.String("table", l.table),
			slog.String("columns", strings.Join(l.columns, ", ")), slog.String("charset", l.charset), slog.String("remedy", t.dialect.remedy(l.table)))
	}
	if !missing {
		return nil
	}
	return t.locked(ctx, func(on querier) error {
		version, err := t.version(ctx, on)
		if err != nil {
			return err
		}
		there, err := t.survey(ctx, on) // another process may have changed them meanwhile
		if err != nil {
			return err
		}
		if len(there.changes) > 0 {
			t.log.Info("the tables of the history are changed", slog.Int("statements", len(there.changes)))
		}
		for _, statement := range there.changes {
			t.log.Debug("the tables of the history are changed", slog.String("statement", statement))
			if _, err := on.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		if version < 2 {
			for _, r := range toVersion2() {
				if err := t.rewrite(ctx, on, r); err != nil {
					return err
				}
			}
		}
		return t.setVersion(ctx, on)
	})
}

// locked runs do while no other process does: in one transaction, but on MySQL, which commits
// each change of a table by itself.
func (t *Tracer) locked(ctx context.Context, do func(querier) error) error {
	switch t.dialect {
	case MySQL:
		return t.connect(ctx, func(conn *sql.Conn) error {
			return withNamedLock(ctx, conn, lockMigrate, migrateBound, func() error { return do(conn) })
		})
	case PostgreSQL:
		return t.transact(ctx, func(tx querier) error {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockMigrate)); err != nil {
				return fmt.Errorf("lock: %w", err)
			}
			return do(tx)
		})
	}
	return t.connect(ctx, func(conn *sql.Conn) error {
		// Readers and a writer do not keep each other waiting then. It stays so in the file.
		if err := patiently(ctx, conn, "PRAGMA journal_mode = WAL"); err != nil {
			return fmt.Errorf("write-ahead log: %w", err)
		}
		return t.transactOn(ctx, conn, do)
	})
}

// version returns the version of the tables; 0 if nobody has migrated them.
func (t *Tracer) version(ctx context.Context, on querier) (int, error) {
	there, err := t.dialect.look(ctx, on, tableSchema)
	if err != nil || len(there.columns) == 0 {
		return 0, err
	}
	var version sql.NullInt32
	if err := on.QueryRowContext(ctx, "SELECT MAX(version) FROM "+tableSchema).Scan(&version); err != nil {
		return 0, fmt.Errorf("table %s: %w", tableSchema, err)
	}
	if version.Int32 > schemaVersion {
		return 0, fmt.Errorf("%w: version %d, known are those up to %d", ErrNewerSchema, version.Int32, schemaVersion)
	}
	return int(version.Int32), nil
}

func (t *Tracer) setVersion(ctx context.Context, on querier) error {
	_, err := on.ExecContext(ctx, t.dialect.insert(schemaTable(), 1), schemaVersion, time.Now().UnixMicro(), nil)
	if err != nil {
		return fmt.Errorf("table %s: %w", tableSchema, err)
	}
	return nil
}

// survey is what a look at the tables has found.
type survey struct {
	// changes are the statements that make the tables those of this version, in an order in which a migration that
	// was cut short can go on.
	changes []string
	lossy   []lossy
}

func (t *Tracer) survey(ctx context.Context, on querier) (survey, error) {
	var s survey
	for _, want := range append(tables(), schemaTable()) {
		there, err := t.dialect.look(ctx, on, want.name)
		if err != nil {
			return survey{}, err
		}
		s.changes = append(s.changes, t.dialect.change(want, there)...)
		s.lossy = append(s.lossy, t.dialect.lossy(want, there)...)
	}
	return s, nil
}
