package sqltrace_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// home is a database of a test.
type home struct {
	*testing.T
	dialect sqltrace.Dialect
	db      *sql.DB          // of the test; each Tracer has a pool of its own
	server  *database.Server // nil with SQLite
	name    string           // of the database there
	driver  string
	dsn     string
}

// onEach runs a test on an empty database of each kind.
func onEach(t *testing.T, test func(h *home)) {
	for _, d := range []sqltrace.Dialect{sqltrace.SQLite, sqltrace.MySQL, sqltrace.PostgreSQL} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			test(newHome(t, d))
		})
	}
}

func newHome(t *testing.T, d sqltrace.Dialect) *home {
	switch d {
	case sqltrace.MySQL:
		return onServer(t, d, servers.Database(t, database.MariaDB))
	case sqltrace.PostgreSQL:
		return onServer(t, d, servers.Database(t, database.PostgreSQL))
	}
	h := &home{T: t, dialect: d, driver: "sqlite", dsn: filepath.Join(t.TempDir(), "history.db")}
	// A Tracer waits by itself while another writes. The test's statements wait as long as within does.
	h.db = h.pool(h.dsn + "?_pragma=busy_timeout(180000)")
	return h
}

// onServer gives Tracers sessions of another zone, so that a mistake with times shows.
func onServer(t *testing.T, d sqltrace.Dialect, in database.Database) *home {
	h := &home{T: t, dialect: d, server: in.Server, name: in.Name}
	if d == sqltrace.MySQL {
		h.driver, h.dsn = "mysql", in.DSN()+"?time_zone=%27%2B05%3A30%27"
		h.db = h.pool(in.DSN() + "?time_zone=%27%2B00%3A00%27")
	} else {
		h.driver, h.dsn = "pgx", in.DSN()+"&timezone=Asia/Kolkata"
		// With statements that were prepared the test would fail after a migration.
		h.db = h.pool(h.dsn + "&default_query_exec_mode=describe_exec")
	}
	return h
}

func (h *home) pool(dsn string) *sql.DB {
	h.Helper()
	db, err := sql.Open(h.driver, dsn)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		if err := db.Close(); err != nil {
			h.Error(err)
		}
	})
	return db
}

// open returns a Tracer that is closed at the end of the test, before the database.
func (h *home) open(o sqltrace.Options) *sqltrace.Tracer {
	h.Helper()
	tracer, err := sqltrace.Open(h.pool(h.dsn), h.dialect, o)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(tracer.Close)
	return tracer
}

// within bounds what a test waits for. It finds what never comes.
func (h *home) within() context.Context {
	ctx, cancel := context.WithTimeout(h.Context(), 3*time.Minute)
	h.Cleanup(cancel)
	return ctx
}

func (h *home) write(to *sqltrace.Tracer, b trace.Batch) {
	h.Helper()
	if err := to.Write(h.within(), b); err != nil {
		h.Fatal(err)
	}
}

// exec runs a statement with ? for each argument, as JVMs have it.
func (h *home) exec(statement string, args ...any) int64 {
	h.Helper()
	result, err := h.db.ExecContext(h.within(), h.bind(statement), args...)
	if err != nil {
		h.Fatalf("%s: %v", statement, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		h.Fatal(err)
	}
	return n
}

func (h *home) bind(statement string) string {
	if h.dialect != sqltrace.PostgreSQL {
		return statement
	}
	parts := strings.Split(statement, "?")
	for i := range parts[:len(parts)-1] {
		parts[i] += fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(parts, "")
}

// ask returns the rows of a query: a line for each, with bars between its columns.
func (h *home) ask(query string, args ...any) string {
	h.Helper()
	rows, err := h.db.QueryContext(h.within(), h.bind(query), args...)
	if err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		h.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			h.Fatal(err)
		}
		cells := make([]string, len(columns))
		for i, v := range values {
			cells[i] = cell(*v.(*any))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	if err := rows.Err(); err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, "\n")
}

// cell writes what drivers return alike.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case bool:
		if v {
			return "1"
		}
		return "0"
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05")
	}
	return fmt.Sprint(v)
}

func (h *home) want(got, want string) {
	h.Helper()
	if got != want {
		h.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// takeRights leaves the user of the database that of reading and writing rows.
func (h *home) takeRights() {
	h.Helper()
	statements := "REVOKE ALL ON `" + strings.ReplaceAll(h.name, "_", `\_`) + "`.* FROM tester; GRANT SELECT, INSERT, UPDATE, DELETE ON `" + h.name + "`.* TO tester"
	if h.dialect == sqltrace.PostgreSQL {
		statements = "REASSIGN OWNED BY tester TO chief; REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO tester;" +
			" GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tester"
	}
	if _, err := h.server.Exec(h.within(), h.name, statements); err != nil {
		h.Fatal(err)
	}
}

// syncWriter keeps what a logger writes in the background.
type syncWriter struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *syncWriter) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func (w *syncWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *syncWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
