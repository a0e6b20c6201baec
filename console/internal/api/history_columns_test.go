package api

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Columns have what each execution has, the newest last, and count from the earliest time that there is.
func TestColumnsOf(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return from.Add(time.Duration(seconds * float64(time.Second))) }
	got := columnsOf(history.Outlines{More: true, Rows: []history.Outline{
		{ID: "d", Item: 3, Instance: "x", Source: job.SourceBackfill, ScheduledTime: at(-3600), StartTime: at(5), Duration: 1500 * time.Microsecond, Outcome: "OK"},
		{ID: "c", StartTime: at(4), Duration: -1, Outcome: "RUNNING"},
		{ID: "b", Item: 1, Instance: "y", Source: job.SourceNormal, ScheduledTime: at(2), StartTime: at(2.25), Duration: time.Minute, Outcome: "FAILED"},
		{ID: "a", Instance: "x", Source: job.SourceBackfill, ScheduledTime: at(1), StartTime: at(1), Outcome: "OK"},
	}}, from)
	want := `{"begin":"2026-01-02T02:00:00Z","ids":["a","b","c","d"],"items":[0,1,0,3],"ticks":[3601000,3602000,-1,0],"begun":[3601000,3602250,3604000,3605000],` +
		`"duration":[0,60000,-1,1],"outcome":[0,2,1,0],"source":[0,2,1,0],"instance":[0,2,1,0],` +
		`"outcomes":["OK","RUNNING","FAILED"],"sources":["BACKFILL","","NORMAL_TRIGGER"],"instances":["x","","y"],"more":true}`
	if text, err := json.Marshal(got); err != nil || string(text) != want {
		t.Errorf("got %s, %v\nwant %s", text, err, want)
	}
	if text, err := json.Marshal(columnsOf(history.Outlines{}, from)); err != nil || strings.Contains(string(text), "null") || !strings.HasPrefix(string(text), `{"begin":"2026-01-02T03:00:00Z","ids":[],`) {
		t.Errorf("of none: %s, %v", text, err)
	}
}

// BenchmarkColumns asks for 100,000 executions of a job, of 100 items, as a browser does.
func BenchmarkColumns(b *testing.B) {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "history.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tracer.Close()
	if err := tracer.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	_, err = db.ExecContext(b.Context(), `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99999)
		INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success,
			start_time, complete_time, instance, scheduled_micros, start_micros, duration_micros, outcome)
		SELECT '0190a000-0000-7000-8' || printf('%03x-%012x', random() & 4095, random() & 281474976710655), 'settle', '', 'host', '10.0.0.1', n % 100, 'NORMAL_TRIGGER', 1,
			strftime('%Y-%m-%d %H:%M:%S.000000', 1790000000 + n / 100, 'unixepoch'), strftime('%Y-%m-%d %H:%M:%S.000000', 1790000000 + n / 100, 'unixepoch'),
			'10.0.0.1@-@1@-@' || n % 7, (1790000000 + n / 100) * 1000000, (1790000000 + n / 100) * 1000000 + n * 7919 % 100000, n * 7919 % 1000000, 'OK' FROM numbers`)
	if err != nil {
		b.Fatal(err)
	}
	anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer}}}
	table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return anna, nil }}
	if _, err := Add(table, Options{Connections: shared{reader: tracer}}); err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v1/namespaces/d/history/columns?job=settle&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	size := 0
	for b.Loop() {
		w := httptest.NewRecorder()
		table.ServeHTTP(w, r.Clone(b.Context()))
		if size = w.Body.Len(); w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	b.ReportMetric(float64(size), "bytes")
}
