package sqltrace_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// BenchmarkWrite writes batches of 500 events, of about 167 executions, into a database whose
// commits wait for the disk; and again without one index each, to see what that costs.
func BenchmarkWrite(b *testing.B) {
	indexes := []string{
		"", "EJ_EXECUTION_TIME", "EJ_EXECUTION_JOB", "EJ_EXECUTION_ITEM", "EJ_EXECUTION_IP", "EJ_EXECUTION_FAILED",
		"TASK_ID_STATE_INDEX", "EJ_STATUS_TIME", "EJ_STATUS_JOB",
	}
	for _, d := range []sqltrace.Dialect{sqltrace.SQLite, sqltrace.MySQL, sqltrace.PostgreSQL} {
		b.Run(d.String(), func(b *testing.B) {
			open := durable(b, d)
			for _, without := range indexes {
				b.Run("without="+without, func(b *testing.B) { benchWrite(b, d, open(b), without) })
			}
		})
	}
}

func benchWrite(b *testing.B, d sqltrace.Dialect, db *sql.DB, without string) {
	tracer, err := sqltrace.Open(db, d, sqltrace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(tracer.Close)
	if err := tracer.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	if without != "" {
		drop := "DROP INDEX " + without
		if d == sqltrace.MySQL {
			drop += " ON " + map[bool]string{true: "JOB_EXECUTION_LOG", false: "JOB_STATUS_TRACE_LOG"}[without[:5] == "EJ_EX"]
		}
		if _, err := db.ExecContext(b.Context(), drop); err != nil {
			b.Fatal(err)
		}
	}
	const size = 500
	n := 0
	for b.Loop() {
		b.StopTimer()
		events := benchEvents(n*size, size)
		b.StartTimer()
		if err := tracer.Write(b.Context(), trace.Batch{Events: events}); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n*size)/b.Elapsed().Seconds(), "events/s")
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
		e := event(1, trace.Kind(0), x)
		e.Kind = []trace.Kind{trace.KindClaimed, trace.KindStarted, trace.KindFinished}[n%3]
		e.ID, e.Time, e.Job = benchID(n, 1), x.ScheduledTime.Add(time.Duration(n%3)*time.Millisecond), "job-"+string(rune('a'+run/10%26))
		if e.Kind == trace.KindFinished {
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

// durable returns what opens an empty database.
func durable(b *testing.B, d sqltrace.Dialect) func(b *testing.B) *sql.DB {
	if d == sqltrace.SQLite {
		return func(b *testing.B) *sql.DB { return benchPool(b, "sqlite", filepath.Join(b.TempDir(), "history.db")) }
	}
	kind, driver, settings := database.MariaDB, "mysql", map[string]string{"innodb-buffer-pool-size": "512M", "innodb-log-file-size": "256M"}
	if d == sqltrace.PostgreSQL {
		kind, driver, settings = database.PostgreSQL, "pgx", map[string]string{"shared_buffers": "512MB"}
	}
	server := database.Start(b, database.Config{Kind: kind, Durable: true, Settings: settings})
	return func(b *testing.B) *sql.DB {
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
