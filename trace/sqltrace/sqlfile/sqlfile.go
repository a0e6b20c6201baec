// Package sqlfile has the type SQL of the section tracing of job files, for programs that run such files. As with
// database/sql, the program imports the driver of its database:
//
//	import _ "modernc.org/sqlite" // or github.com/jackc/pgx/v5/stdlib, github.com/go-sql-driver/mysql
//
//	app, err := jobfile.Load(ctx, jobfile.Options{
//		Databases: map[string]jobfile.OpenDatabase{sqlfile.Name: sqlfile.Open},
//	}, "elasticjob.yaml") // tracing: {type: SQL, database: "sqlite:history.db"}
//
// It is a package of its own, because package jobfile brings the clients of all stores.
package sqlfile

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Name is the name of the type.
const Name = "SQL"

// defaultKeep is how long a history is kept.
const defaultKeep = 90 * 24 * time.Hour

// database is a history in a database.
type database struct {
	*sqltrace.Tracer
	db *sql.DB
}

// Open opens the database of a section, which may be down. It is a [jobfile.OpenDatabase].
func Open(c jobfile.DatabaseConfig) (jobfile.Database, error) {
	db, dialect, err := OpenDatabase(c.Address)
	if err != nil {
		return nil, err
	}
	t, err := sqltrace.Open(db, dialect, sqltrace.Options{Retention: sqltrace.Retention{Age: cmp.Or(c.Keep, defaultKeep)}, Slog: c.Log})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return database{t, db}, nil
}

func (d database) Close() error {
	d.Tracer.Close()
	return d.db.Close()
}

const allowed = "allowed are sqlite:/path/to/file, mysql:user:password@tcp(host:3306)/database and postgres://user:password@host/database"

// OpenDatabase opens the database at an address as files have it, for [sqltrace.Open]. It is not asked anything yet. No
// error shows the address, which may have a password.
func OpenDatabase(address string) (*sql.DB, sqltrace.Dialect, error) {
	kind, dsn, _ := strings.Cut(address, ":")
	if dsn == "" {
		return nil, 0, fmt.Errorf("nothing behind the kind of the database: %s", allowed)
	}
	var driver, home string
	var dialect sqltrace.Dialect
	switch kind {
	case "sqlite":
		driver, home, dialect = "sqlite", "modernc.org/sqlite", sqltrace.SQLite
	case "mysql":
		driver, home, dialect = "mysql", "github.com/go-sql-driver/mysql", sqltrace.MySQL
	case "postgres", "postgresql":
		driver, home, dialect = "pgx", "github.com/jackc/pgx/v5/stdlib", sqltrace.PostgreSQL
		if strings.HasPrefix(dsn, "//") {
			dsn = address
		}
	default:
		return nil, 0, fmt.Errorf("%s is no kind of a database that is known: %s", brief.Quote(kind), allowed)
	}
	if !slices.Contains(sql.Drivers(), driver) {
		return nil, 0, fmt.Errorf("this program has no driver for %s: it has to import %s", kind, home)
	}
	if dialect == sqltrace.SQLite {
		createPrivate(strings.TrimPrefix(dsn, "file:"))
		dsn += "?_txlock=immediate&_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil { // it may quote the address
		return nil, 0, fmt.Errorf("the %s driver does not understand what is behind %q: %s", kind, kind+":", allowed)
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
