package sqltrace_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// The database is away when the process starts, and for an hour. The job runs on time, and its
// history is whole in the end.
func TestAnHourWithoutADatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "missing")
		db, err := sql.Open("sqlite", filepath.Join(folder, "history.db"))
		if err != nil {
			t.Fatal(err)
		}
		tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		recorder, err := trace.New(tracer, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := jobtest.NewCluster(t)
		a := c.Process("10.0.0.1", recorder.Option())
		var ran atomic.Int64
		a.Schedule(job.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 1}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			n := ran.Add(1)
			job.Logger(ctx).Info("run", "number", n)
			if n%10 == 0 {
				return errors.New("no money")
			}
			return nil
		}))
		c.Advance(time.Hour)
		if s := recorder.Stats(); ran.Load() < 59 || s.Written != (trace.Count{}) || s.LastError == nil {
			t.Errorf("%d runs, %+v", ran.Load(), s)
		}
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		c.Advance(10 * time.Minute)
		if err := a.Shutdown(time.Minute); err != nil {
			t.Error(err)
		}
		if err := recorder.Close(t.Context()); err != nil {
			t.Error(err)
		}
		tracer.Close()
		runs := ran.Load()
		for query, want := range map[string]string{
			"SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE complete_time IS NOT NULL":                           fmt.Sprint(runs),
			"SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE failure_cause = 'no money' AND is_success = 0":       fmt.Sprint(runs / 10),
			"SELECT COUNT(*) FROM JOB_STATUS_TRACE_LOG":                                                        fmt.Sprint(3 * runs),
			"SELECT COUNT(*) FROM ELASTICJOB_RUN_LOG WHERE line_number = 1 AND text LIKE 'run number=%'":       fmt.Sprint(runs),
			"SELECT MIN(scheduled_micros % 60000000), MAX(scheduled_micros % 60000000) FROM JOB_EXECUTION_LOG": "0 0",
			"SELECT COUNT(*) FROM ELASTICJOB_EVENT WHERE kind IN ('JOINED', 'CONFIGURED', 'LEFT')":             "3",
			"SELECT COUNT(*) FROM ELASTICJOB_EVENT WHERE kind = 'DUE'":                                         "0",
		} {
			if got := one(t, db, query); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// one returns the only row of a query.
func one(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		t.Fatalf("%s: no row, %v", query, errors.Join(err, rows.Err()))
	}
	values, cells := make([]any, len(columns)), make([]string, len(columns))
	for i := range values {
		values[i] = &cells[i]
	}
	if err := rows.Scan(values...); err != nil {
		t.Fatal(err)
	}
	return strings.Join(cells, " ")
}

// One connection is enough for all that a Tracer does at a time.
func TestOneConnection(t *testing.T) {
	h := &home{T: t, dialect: sqltrace.SQLite, driver: "sqlite", dsn: ":memory:"}
	db := h.pool(h.dsn)
	db.SetMaxOpenConns(1)
	tracer, err := sqltrace.Open(db, h.dialect, sqltrace.Options{Retention: sqltrace.Retention{Age: never, Every: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			err := tracer.Write(h.within(), trace.Batch{Events: []trace.Event{event(i, jobtype.EventStarted, execution(i))}})
			page, err1 := tracer.Executions(h.within(), history.ExecutionFilter{})
			_, err2 := tracer.Retain(h.within())
			if err := errors.Join(err, err1, err2); err != nil || len(page.Rows) == 0 {
				t.Errorf("%d executions, %v", len(page.Rows), err)
			}
		})
	}
	wait.Wait()
	if page, err := tracer.Executions(h.within(), history.ExecutionFilter{}); err != nil || len(page.Rows) != 10 {
		t.Errorf("%d executions, %v", len(page.Rows), err)
	}
}
