package target

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// History is a database that has the history of the jobs. It connects when it is asked.
type History struct {
	*sqltrace.Tracer
	db *sql.DB
}

var (
	_ history.Reader = (*History)(nil)
	_ trace.Sink     = (*History)(nil)
)

// Close ends the connections.
func (h *History) Close() error {
	h.Tracer.Close()
	return h.db.Close()
}

const allowedHistories = "allowed are sqlite:/path/to/file, mysql:user:password@tcp(host:3306)/database and postgres://user:password@host/database"

// OpenHistory opens the database that settings name; nil if they name none. No error shows its
// address, which may have a password.
func (s Settings) OpenHistory() (*History, error) {
	if s.History == "" {
		return nil, nil
	}
	address, err := property.Expand(s.History, property.FromProcess())
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	kind, dsn, _ := strings.Cut(address, ":")
	if dsn == "" {
		return nil, fmt.Errorf("history: nothing behind the kind of the database: %s", allowedHistories)
	}
	var driver string
	var dialect sqltrace.Dialect
	switch kind {
	case "sqlite":
		if _, err := os.Stat(dsn); err != nil { // the driver would make an empty one
			return nil, fmt.Errorf("history: %w", err)
		}
		driver, dialect, dsn = "sqlite", sqltrace.SQLite, dsn+"?_txlock=immediate&_pragma=busy_timeout(5000)"
	case "mysql":
		driver, dialect = "mysql", sqltrace.MySQL
	case "postgres", "postgresql":
		driver, dialect = "pgx", sqltrace.PostgreSQL
		if strings.HasPrefix(dsn, "//") {
			dsn = address
		}
	default:
		return nil, fmt.Errorf("history: %s is no kind of a database that is known: %s", brief.Quote(kind), allowedHistories)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil { // it may quote the DSN
		return nil, fmt.Errorf("history: the %s driver does not understand what is behind %q: %s", kind, kind+":", allowedHistories)
	}
	tracer, err := sqltrace.Open(db, dialect, sqltrace.Options{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("history: %w", err), db.Close())
	}
	return &History{tracer, db}, nil
}
