package target

import (
	"database/sql"
	"fmt"
	"os"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

const allowedDatabases = "allowed are sqlite:/path/to/file, mysql:user:password@tcp(host:3306)/database and postgres://user:password@host/database"

// OpenDatabase opens a database for a history. It is not asked anything yet. No error shows the
// address, which may have a password.
func OpenDatabase(address string) (*sql.DB, sqltrace.Dialect, error) {
	kind, dsn, _ := strings.Cut(address, ":")
	if dsn == "" {
		return nil, 0, fmt.Errorf("nothing behind the kind of the database: %s", allowedDatabases)
	}
	var driver string
	var dialect sqltrace.Dialect
	switch kind {
	case "sqlite":
		driver, dialect, dsn = "sqlite", sqltrace.SQLite, dsn+"?_txlock=immediate&_pragma=busy_timeout(5000)"
	case "mysql":
		driver, dialect = "mysql", sqltrace.MySQL
	case "postgres", "postgresql":
		driver, dialect = "pgx", sqltrace.PostgreSQL
		if strings.HasPrefix(dsn, "//") {
			dsn = address
		}
	default:
		return nil, 0, fmt.Errorf("%s is no kind of a database that is known: %s", brief.Quote(kind), allowedDatabases)
	}
	if driver == "sqlite" {
		createPrivate(strings.TrimPrefix(strings.TrimPrefix(address, kind+":"), "file:"))
	}
	db, err := sql.Open(driver, dsn)
	if err != nil { // it may quote the address
		return nil, 0, fmt.Errorf("the %s driver does not understand what is behind %q: %s", kind, kind+":", allowedDatabases)
	}
	return db, dialect, nil
}

// createPrivate makes the file of a database that is not there yet, for its user alone: the driver would let everybody
// read it. What keeps it from that keeps the driver, too, which says it when the database is used.
func createPrivate(file string) {
	if file == ":memory:" {
		return
	}
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close() // nothing was written
	}
}
