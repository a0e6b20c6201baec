package sqltrace_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Twenty processes start at once, over tables with rows.
func TestMigrateAtOnce(t *testing.T) {
	onEach(t, func(h *home) {
		jvms[1].createTables(h)
		jvms[1].run(h, "old")
		before := theirs(h, "old")
		var all sync.WaitGroup
		for i := range 20 {
			tracer := h.open(sqltrace.Options{})
			all.Go(func() {
				x := execution(i)
				if err := tracer.Write(h.within(), trace.Batch{Events: []trace.Event{event(1, trace.KindStarted, x)}}); err != nil {
					h.Errorf("process %d: %v", i, err)
				}
			})
		}
		all.Wait()
		h.want(theirs(h, "old"), before)
		h.want(h.ask("SELECT COUNT(*), MIN(version), MAX(version) FROM ELASTICJOB_SCHEMA"), "1|1|1")
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE instance IS NOT NULL"), "20")
		h.want(h.ask("SELECT COUNT(*) FROM JOB_STATUS_TRACE_LOG WHERE instance IS NOT NULL"), "20")
	})
}

func TestNewerSchema(t *testing.T) {
	onEach(t, func(h *home) {
		if err := h.open(sqltrace.Options{}).Migrate(h.within()); err != nil {
			h.Fatal(err)
		}
		h.exec("INSERT INTO ELASTICJOB_SCHEMA (version, applied_micros) VALUES (1000, 0)")
		err := h.open(sqltrace.Options{}).Write(h.within(), trace.Batch{})
		if !errors.Is(err, sqltrace.ErrNewerSchema) {
			h.Errorf("got %v", err)
		}
		h.exec("DELETE FROM ELASTICJOB_SCHEMA")
		if err := h.open(sqltrace.Options{}).Migrate(h.within()); err != nil {
			h.Error(err)
		}
		h.want(h.ask("SELECT MAX(version) FROM ELASTICJOB_SCHEMA"), "1")
	})
}

// Nobody needs the right to change tables if there is nothing to change.
func TestNoRights(t *testing.T) {
	onEach(t, func(h *home) {
		if h.server == nil {
			h.Skip("SQLite has no users")
		}
		if err := h.open(sqltrace.Options{}).Migrate(h.within()); err != nil {
			h.Fatal(err)
		}
		h.takeRights()
		tracer := h.open(sqltrace.Options{})
		h.write(tracer, trace.Batch{Events: []trace.Event{event(1, trace.KindStarted, execution(1))}})
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG"), "1")
	})
}

// Somebody drops a table, then a column, under a process that writes.
func TestDroppedTables(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		for i, drop := range []string{
			"DROP TABLE IF EXISTS JOB_EXECUTION_LOG", // of nobody yet
			"DROP TABLE ELASTICJOB_RUN_LOG",
			"DROP TABLE JOB_STATUS_TRACE_LOG",
			"DROP TABLE ELASTICJOB_SCHEMA",
			"ALTER TABLE JOB_EXECUTION_LOG DROP COLUMN outcome",
			"ALTER TABLE ELASTICJOB_EVENT DROP COLUMN text_after", // as in a table of an earlier version
			"DROP TABLE JOB_EXECUTION_LOG",
		} {
			h.exec(drop)
			x := execution(i)
			h.write(tracer, trace.Batch{
				Events: []trace.Event{event(1, trace.KindStarted, x), event(2, trace.KindFinished, x), {ID: id(1000 + i), Time: began, Kind: trace.KindOperated, After: "so"}},
				Lines:  []trace.Line{{Job: "settle", TaskID: x.TaskID, Number: 1, Time: began, Text: "line"}},
			})
			h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE id = ?", x.TaskID), "1")
			h.want(h.ask("SELECT COUNT(*) FROM JOB_STATUS_TRACE_LOG WHERE task_id = ?", x.TaskID), "2")
			h.want(h.ask("SELECT COUNT(*) FROM ELASTICJOB_RUN_LOG WHERE task_id = ?", x.TaskID), "1")
			h.want(h.ask("SELECT text_after FROM ELASTICJOB_EVENT WHERE id = ?", id(1000+i)), "so")
		}
	})
}

// A migration takes longer than a batch has time. The batch is given back, and the migration
// goes on.
func TestSlowMigration(t *testing.T) {
	onEach(t, func(h *home) {
		jvms[1].createTables(h)
		unlock := h.lockTables()
		log := new(syncWriter)
		tracer := h.open(sqltrace.Options{Log: log.logger()})
		b := trace.Batch{Events: []trace.Event{event(1, trace.KindStarted, execution(1))}}
		ctx, cancel := context.WithTimeout(h.Context(), 300*time.Millisecond)
		defer cancel()
		if err := tracer.Write(ctx, b); !errors.Is(err, context.DeadlineExceeded) {
			h.Errorf("got %v", err)
		}
		unlock()
		h.write(tracer, b)
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG"), "1")
		if want := "the tables of the history are changed"; !strings.Contains(log.String(), want) {
			h.Errorf("the log does not say %q:\n%s", want, log)
		}
	})
}

func TestCloseEndsAMigration(t *testing.T) {
	onEach(t, func(h *home) {
		jvms[1].createTables(h)
		unlock := h.lockTables()
		defer unlock()
		tracer := h.open(sqltrace.Options{})
		ctx, cancel := context.WithTimeout(h.Context(), 100*time.Millisecond)
		defer cancel()
		if err := tracer.Write(ctx, trace.Batch{}); !errors.Is(err, context.DeadlineExceeded) {
			h.Errorf("got %v", err)
		}
		closed := make(chan struct{})
		go func() { tracer.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(time.Minute):
			h.Error("it does not end")
		}
		<-closed
		if err := tracer.Write(h.within(), trace.Batch{}); !errors.Is(err, context.Canceled) {
			h.Errorf("after Close: %v", err)
		}
	})
}

func TestOpenChecks(t *testing.T) {
	h := newHome(t, sqltrace.SQLite)
	for _, tc := range []struct {
		dialect   sqltrace.Dialect
		retention sqltrace.Retention
		want      string
	}{
		{0, sqltrace.Retention{}, "sqltrace: Dialect(0): SQLite, MySQL or PostgreSQL are allowed"},
		{sqltrace.SQLite, sqltrace.Retention{Rows: -1}, "sqltrace: retention: age 0s, rows -1, every 0s: 0 or more are allowed"},
		{sqltrace.SQLite, sqltrace.Retention{Age: 1, Every: 1}, "sqltrace: retention: every 1ns: a second or more is allowed"},
	} {
		if _, err := sqltrace.Open(h.db, tc.dialect, sqltrace.Options{Retention: tc.retention}); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	if _, err := sqltrace.Open(nil, sqltrace.SQLite, sqltrace.Options{}); err == nil {
		t.Error("no database is taken for one")
	}
}

// lockTables keeps everybody else from changing the execution table, and returns what ends that.
func (h *home) lockTables() (unlock func()) {
	h.Helper()
	conn, err := h.db.Conn(h.within())
	if err != nil {
		h.Fatal(err)
	}
	lock, end := "LOCK TABLES JOB_EXECUTION_LOG WRITE", "UNLOCK TABLES"
	switch h.dialect {
	case sqltrace.SQLite:
		lock, end = "BEGIN IMMEDIATE", "ROLLBACK"
	case sqltrace.PostgreSQL:
		lock, end = "BEGIN; LOCK TABLE JOB_EXECUTION_LOG", "ROLLBACK"
	}
	for statement := range strings.SplitSeq(lock, "; ") {
		if _, err := conn.ExecContext(h.within(), statement); err != nil {
			h.Fatalf("%s: %v", statement, err)
		}
	}
	return func() {
		h.Helper()
		if _, err := conn.ExecContext(h.within(), end); err != nil {
			h.Errorf("%s: %v", end, err)
		}
		_ = conn.Close() // back to the pool
	}
}
