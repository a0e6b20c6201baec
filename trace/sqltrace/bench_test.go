package sqltrace_test

import (
	"cmp"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// batchSize is how many events a batch has, of about 167 executions.
const batchSize = 500

// BenchmarkWrite writes batches into a database whose commits wait for the disk.
func BenchmarkWrite(b *testing.B) {
	onEachDurable(b, func(b *testing.B, d sqltrace.Dialect, open func() *sql.DB) {
		tracer := benchTracer(b, d, open(), "")
		n := 0
		for b.Loop() {
			b.StopTimer()
			batch := trace.Batch{Events: benchEvents(n*batchSize, batchSize)}
			b.StartTimer()
			if err := tracer.Write(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			n++
		}
		b.ReportMetric(float64(n*batchSize)/b.Elapsed().Seconds(), "events/s")
	})
}

// BenchmarkIndex writes the same batches into databases that lack one index each, or all, in turns,
// so that a busy machine slows all of them. It tells how long a batch takes that is faster than
// nine in ten: the others show what else the machine does.
func BenchmarkIndex(b *testing.B) {
	indexes := []string{
		"", "EJ_EXECUTION_TIME", "EJ_EXECUTION_JOB", "EJ_EXECUTION_ITEM", "EJ_EXECUTION_IP", "EJ_EXECUTION_FAILED",
		"TASK_ID_STATE_INDEX", "EJ_STATUS_TIME", "EJ_STATUS_JOB",
	}
	indexes = append(indexes, strings.Join(indexes[1:], " "))
	onEachDurable(b, func(b *testing.B, d sqltrace.Dialect, open func() *sql.DB) {
		tracers, took := map[string]*sqltrace.Tracer{}, map[string][]time.Duration{}
		for _, without := range indexes {
			tracers[without] = benchTracer(b, d, open(), without)
		}
		n := 0
		for b.Loop() {
			batch := trace.Batch{Events: benchEvents(n*batchSize, batchSize)}
			for _, without := range indexes {
				start := time.Now()
				if err := tracers[without].Write(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				took[without] = append(took[without], time.Since(start))
			}
			n++
		}
		for _, without := range indexes {
			slices.Sort(took[without])
			b.ReportMetric(float64(took[without][n/10].Microseconds()), "µs-without-"+cmp.Or(strings.ReplaceAll(without, " ", "+"), "none"))
		}
	})
}

func onEachDurable(b *testing.B, bench func(b *testing.B, d sqltrace.Dialect, open func() *sql.DB)) {
	for _, d := range []sqltrace.Dialect{sqltrace.SQLite, sqltrace.MySQL, sqltrace.PostgreSQL} {
		b.Run(d.String(), func(b *testing.B) { bench(b, d, durable(b, d)) })
	}
}

func benchTracer(b *testing.B, d sqltrace.Dialect, db *sql.DB, without string) *sqltrace.Tracer {
	b.Helper()
	tracer, err := sqltrace.Open(db, d, sqltrace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(tracer.Close)
	if err := tracer.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	for index := range strings.FieldsSeq(without) {
		drop := "DROP INDEX " + index
		switch {
		case d == sqltrace.MySQL && strings.HasPrefix(index, "EJ_EXECUTION"):
			drop += " ON JOB_EXECUTION_LOG"
		case d == sqltrace.MySQL:
			drop += " ON JOB_STATUS_TRACE_LOG"
		}
		if _, err := db.ExecContext(b.Context(), drop); err != nil {
			b.Fatal(err)
		}
	}
	return tracer
}

// benchEvents returns events of 100 jobs of ten items each.
func benchEvents(from, size int) []trace.Event {
	events := make([]trace.Event, 0, size)
	for i := range size {
		n := from + i
		run := n / 3
		x := job.Execution{
			TaskID: benchID(run, 0), Item: run % 10, ScheduledTime: began.Add(time.Duration(run) * time.Millisecond),
			Source: job.SourceNormal, Token: int64(run),
		}
		e := event(1, jobtype.EventKind(0), x)
		e.Kind = []jobtype.EventKind{jobtype.EventClaimed, jobtype.EventStarted, jobtype.EventFinished}[n%3]
		e.ID, e.Time, e.Job = benchID(n, 1), x.ScheduledTime.Add(time.Duration(n%3)*time.Millisecond), "job-"+string(rune('a'+run/10%26))
		if e.Kind == jobtype.EventFinished {
			e.Outcome, e.Took, e.Attempt = job.OutcomeOK, time.Millisecond, 1
			if run%50 == 0 {
				e.Outcome, e.Error = job.OutcomeFailed, "it failed"
			}
		}
		events = append(events, e)
	}
	return events
}

// benchID sorts by n, as ids of version 7 sort by time, and is as random below that.
func benchID(n, kind int) string {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), byte(kind)})
	id[0], id[1], id[2], id[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return id.String()
}

// durable returns what opens an empty database each time.
func durable(b *testing.B, d sqltrace.Dialect) func() *sql.DB {
	if d == sqltrace.SQLite {
		return func() *sql.DB { return benchPool(b, "sqlite", filepath.Join(b.TempDir(), "history.db")) }
	}
	kind, driver, settings := database.MariaDB, "mysql", map[string]string{"innodb-buffer-pool-size": "512M", "innodb-log-file-size": "256M"}
	if d == sqltrace.PostgreSQL {
		kind, driver, settings = database.PostgreSQL, "pgx", map[string]string{"shared_buffers": "512MB"}
	}
	server := database.Start(b, database.Config{Kind: kind, Durable: true, Settings: settings})
	return func() *sql.DB {
		in, err := server.Create(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return benchPool(b, driver, in.DSN())
	}
}

func benchPool(b *testing.B, driver, dsn string) *sql.DB {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}
