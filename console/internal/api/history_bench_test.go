package api

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// openHistory returns an empty database, and what asks about its history.
func openHistory(b *testing.B) (*sql.DB, func(*testing.B, string)) {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "history.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(tracer.Close)
	if err := tracer.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer}}}
	table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return anna, nil }}
	if _, err := Add(table, Options{Connections: shared{reader: tracer}}); err != nil {
		b.Fatal(err)
	}
	return db, func(b *testing.B, question string) {
		size := 0
		for b.Loop() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v1/namespaces/d/history/"+question, nil)
			r.Header.Set("Accept-Encoding", "gzip")
			w := httptest.NewRecorder()
			table.ServeHTTP(w, r)
			if size = w.Body.Len(); w.Code != http.StatusOK {
				b.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		b.ReportMetric(float64(size), "bytes")
	}
}

// BenchmarkLanes asks what has become of 1,000 jobs in a day: runs in each quarter of an hour, one in 50 of which has failures, and
// 10,000 missed ticks.
func BenchmarkLanes(b *testing.B) {
	db, ask := openHistory(b)
	const numbers = "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 95999) "
	_, err := db.ExecContext(b.Context(), numbers+`INSERT INTO ELASTICJOB_COUNT SELECT printf('job-%04d', n % 1000), (1790000100 + n / 1000 * 900) * 1000000, 'OK', 15 FROM numbers;
		`+numbers+`INSERT INTO ELASTICJOB_COUNT SELECT printf('job-%04d', n % 1000), (1790000100 + n / 1000 * 900) * 1000000, 'FAILED', 1 FROM numbers WHERE n * 7919 % 50 = 0;
		INSERT INTO ELASTICJOB_COUNT SELECT '', slot_micros, outcome, SUM(executions) FROM ELASTICJOB_COUNT GROUP BY 2, 3;
		`+numbers+`INSERT INTO ELASTICJOB_EVENT (id, time_micros, kind, job_name, sharding_item, ticks, what, is_over)
		SELECT printf('%036x', n), (1790000100 + n * 7919 % 86400) * 1000000, 'SKIPPED', printf('job-%04d', n % 1000), 0, 1, 'too late', 0 FROM numbers WHERE n < 10000`)
	if err != nil {
		b.Fatal(err)
	}
	ask(b, "lanes?from=2026-09-21T14:15:00Z&to=2026-09-22T14:15:00Z")
}

// BenchmarkHistory asks about 100,000 executions of a job, of 100 items, and 100,000 times that it missed a tick, as a
// browser does.
func BenchmarkHistory(b *testing.B) {
	db, ask := openHistory(b)
	const numbers = "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99999) "
	_, err := db.ExecContext(b.Context(), numbers+`INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success,
			start_time, complete_time, instance, scheduled_micros, start_micros, duration_micros, outcome)
		SELECT '0190a000-0000-7000-8' || printf('%03x-%012x', random() & 4095, random() & 281474976710655), 'settle', '', 'host', '10.0.0.1', n % 100, 'NORMAL_TRIGGER', 1,
			strftime('%Y-%m-%d %H:%M:%S.000000', 1790000000 + n / 100, 'unixepoch'), strftime('%Y-%m-%d %H:%M:%S.000000', 1790000000 + n / 100, 'unixepoch'),
			'10.0.0.1@-@1@-@' || n % 7, (1790000000 + n / 100) * 1000000, (1790000000 + n / 100) * 1000000 + n * 7919 % 100000, n * 7919 % 1000000, 'OK' FROM numbers;
		`+numbers+`INSERT INTO ELASTICJOB_EVENT (id, time_micros, kind, job_name, sharding_item, ticks, what, is_over)
		SELECT printf('%036x', n), (1790000000 + n * 26) * 1000000, 'SKIPPED', 'settle', n % 100, 1, 'too late', 0 FROM numbers`)
	if err != nil {
		b.Fatal(err)
	}
	for name, question := range map[string]string{
		"columns": "columns?job=settle&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z",
		"file":    "executions.csv?job=settle",
		"missed":  "missed?job=settle&step=day&from=2026-09-01T00:00:00Z&to=2026-12-01T00:00:00Z",
	} {
		b.Run(name, func(b *testing.B) { ask(b, question) })
	}
}
