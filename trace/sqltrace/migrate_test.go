package sqltrace_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
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
				if err := tracer.Write(h.within(), trace.Batch{Events: []trace.Event{event(1, jobtype.EventStarted, x)}}); err != nil {
					h.Errorf("process %d: %v", i, err)
				}
			})
		}
		all.Wait()
		h.want(theirs(h, "old"), before)
		h.want(h.ask("SELECT COUNT(*), MIN(version), MAX(version) FROM ELASTICJOB_SCHEMA"), "1|2|2")
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE instance IS NOT NULL"), "20")
		h.want(h.ask("SELECT COUNT(*) FROM JOB_STATUS_TRACE_LOG WHERE instance IS NOT NULL"), "20")
	})
}

// Version 1 wrote our sources into ElasticJob's column, whose readers then lost the page. Twenty processes of this
// version start at once; a migration that was cut short before its end goes on.
func TestMigrateSources(t *testing.T) {
	const each = 401 // of a source: more rows than one statement rewrites
	onEach(t, func(h *home) {
		old := h.open(sqltrace.Options{})
		var b trace.Batch
		for source := job.SourceNormal; source <= job.SourceBackfill; source++ {
			for range each {
				x := execution(len(b.Events))
				x.Source = source
				b.Events = append(b.Events, event(1, jobtype.EventStarted, x))
			}
		}
		h.write(old, b)
		j := jvms[2] // 3.0.5
		j.run(h, "jvm")
		before := theirs(h, "jvm")
		h.exec("UPDATE JOB_EXECUTION_LOG SET execution_source = run_source WHERE run_source IS NOT NULL")
		h.exec("ALTER TABLE JOB_EXECUTION_LOG DROP COLUMN run_source")
		h.exec("UPDATE JOB_STATUS_TRACE_LOG SET source = NULL WHERE id LIKE 'jvm%'") // as the tables of version 1 had it
		h.exec("UPDATE ELASTICJOB_SCHEMA SET version = 1")
		const sources = `SELECT execution_source, COALESCE(run_source, execution_source), COUNT(*) FROM JOB_EXECUTION_LOG
			WHERE instance IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2`
		const want = "FAILOVER|FAILOVER|401\nMISFIRE|MISFIRE|401\n" +
			"NORMAL_TRIGGER|BACKFILL|401\nNORMAL_TRIGGER|MANUAL|401\nNORMAL_TRIGGER|NORMAL_TRIGGER|401\nNORMAL_TRIGGER|RETRY|401"
		for range 2 {
			var all sync.WaitGroup
			for i := range 20 {
				tracer := h.open(sqltrace.Options{})
				all.Go(func() {
					if err := tracer.Migrate(h.within()); err != nil {
						h.Errorf("process %d: %v", i, err)
					}
				})
			}
			all.Wait()
			h.want(h.ask(sources), want)
			h.want(theirs(h, "jvm"), before)
			h.want(h.ask("SELECT COUNT(*) FROM JOB_STATUS_TRACE_LOG WHERE source IS NULL OR source <> 'LITE_EXECUTOR'"), "0")
			// Cut short: some rows are rewritten, others not, and the version is not there.
			h.exec("UPDATE JOB_EXECUTION_LOG SET execution_source = 'MANUAL', run_source = NULL WHERE run_source = 'MANUAL' AND sharding_item < 1400")
			h.exec("DELETE FROM ELASTICJOB_SCHEMA WHERE version = 2")
		}
		reader := h.open(sqltrace.Options{})
		for source := job.SourceNormal; source <= job.SourceBackfill; source++ {
			found, err := reader.Executions(h.within(), history.ExecutionFilter{Source: source, Limit: history.MaxLimit, Job: "settle"})
			if err != nil || len(found.Rows) != each || found.Rows[0].Source != source {
				h.Errorf("%v: %d rows, %v", source, len(found.Rows), err)
			}
		}
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
		h.want(h.ask("SELECT MAX(version) FROM ELASTICJOB_SCHEMA"), "2")
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
		h.write(tracer, trace.Batch{Events: []trace.Event{event(1, jobtype.EventStarted, execution(1))}})
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
				Events: []trace.Event{event(1, jobtype.EventStarted, x), event(2, jobtype.EventFinished, x), {ID: id(1000 + i), Time: began, Kind: jobtype.EventOperated, After: "so"}},
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
		tracer := h.open(sqltrace.Options{Slog: log.logger()})
		b := trace.Batch{Events: []trace.Event{event(1, jobtype.EventStarted, execution(1))}}
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
