package target

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the third driver of sqlfile

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace/sqlfile"
)

const (
	// consoleDial bounds one connection of a console to a store; its context may be shorter.
	consoleDial = 10 * time.Second
	// databaseDial bounds one to a database, and databaseAnswer each answer on it.
	databaseDial   = 5 * time.Second
	databaseAnswer = 30 * time.Second
	// A database that hangs takes no more connections of a console than these.
	maxConnections = 8
	maxIdle        = 2
	idleTime       = 5 * time.Minute
)

// Dial connects to a namespace of a console: connection.Options.Dial.
//
// Errors: those of the adapters.
func Dial(ctx context.Context, n connection.Namespace) (coord.Registry, error) {
	t := &Target{
		Kind: Kind(n.Kind), Endpoints: slices.Clone(n.Endpoints), Namespace: n.Path,
		User: n.User, password: n.Password.Reveal(), TLS: n.TLS != nil,
	}
	var err error
	if n.Grants != "" {
		if t.grants, err = zk.ParseACL(n.Grants); err != nil {
			return nil, fmt.Errorf("grants: %w", err)
		}
	}
	if n.TLS != nil {
		if t.secured, err = settingsOf(n.TLS).tls(); err != nil {
			return nil, err
		}
	}
	return t.Dial(ctx, consoleDial)
}

func settingsOf(t *connection.TLS) Settings {
	return Settings{CACert: t.CACert, Cert: t.Cert, Key: t.Key, ServerName: t.ServerName}
}

// OpenHistory opens a database of a console: connection.Options.OpenHistory. Nothing is asked of it yet. All
// that it uses stands in d: none of the environment, and no file of the user's folder, such as
// PGPASSWORD and .pgpass, whose passwords would go to whatever server d names.
func OpenHistory(d connection.Database) (connection.History, error) {
	var db *sql.DB
	var dialect sqltrace.Dialect
	var err error
	switch d.Driver {
	case connection.SQLite:
		dialect = sqltrace.SQLite
		db, err = openSQLite(d)
	case connection.MySQL:
		dialect = sqltrace.MySQL
		db, err = openMySQL(d)
	case connection.Postgres:
		dialect = sqltrace.PostgreSQL
		db, err = openPostgres(d)
	default:
		err = fmt.Errorf("driver %q is not known", d.Driver)
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxIdle)
	db.SetConnMaxIdleTime(idleTime)
	tracer, err := sqltrace.Open(db, dialect, sqltrace.Options{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &History{tracer, db}, nil
}

func openSQLite(d connection.Database) (*sql.DB, error) {
	if info, err := os.Stat(d.Address); err != nil { // the driver would make an empty one
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", d.Address)
	}
	db, _, err := sqlfile.OpenDatabase("sqlite:" + d.Address)
	return db, err
}

func openMySQL(d connection.Database) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = d.User, d.Password.Reveal(), "tcp", d.Address, d.Schema
	c.Timeout, c.ReadTimeout, c.WriteTimeout = databaseDial, databaseAnswer, databaseAnswer
	c.Logger = log.New(io.Discard, "", 0) // the errors say it all
	if d.TLS != nil {
		secured, err := settingsOf(d.TLS).tls()
		if err != nil {
			return nil, err
		}
		if secured.ServerName == "" {
			secured.ServerName, _, _ = net.SplitHostPort(d.Address) // it was checked
		}
		c.TLS = secured
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func openPostgres(d connection.Database) (*sql.DB, error) {
	// A key in the address counts before the environment; what it cannot say is overwritten below.
	address := url.URL{Scheme: "postgres", User: url.User(d.User), Host: d.Address, Path: "/" + d.Schema, RawQuery: "sslmode=disable&passfile=" + os.DevNull}
	c, err := pgx.ParseConfig(address.String())
	if err != nil {
		return nil, fmt.Errorf("the driver does not understand host and database, or a variable PG… of the environment")
	}
	c.User, c.Database, c.Password = d.User, d.Schema, d.Password.Reveal()
	c.ConnectTimeout, c.Fallbacks, c.ValidateConnect = databaseDial, nil, nil
	c.RuntimeParams = map[string]string{"application_name": "elasticjob-console"}
	c.SSLNegotiation, c.KerberosSrvName, c.KerberosSpn, c.RequireAuth = "", "", "", ""
	if d.TLS != nil {
		if c.TLSConfig, err = settingsOf(d.TLS).tls(); err != nil {
			return nil, err
		}
		if c.TLSConfig.ServerName == "" {
			c.TLSConfig.ServerName = c.Host
		}
	}
	return stdlib.OpenDB(*c), nil
}

var _ connection.History = (*History)(nil)

// Ping logs in to the database. Its error says why it could not, as far as the driver does.
func (h *History) Ping(ctx context.Context) error {
	err := h.db.PingContext(ctx)
	if err == nil {
		return nil
	}
	reason, ok := reasonOf(err)
	if !ok {
		return err
	}
	return &connection.TestError{Reason: reason, Err: err}
}

// reasonOf returns what the code of a driver's error means.
func reasonOf(err error) (connection.Reason, bool) {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case strings.HasPrefix(e.Code, "28"): // invalid authorization specification
			return connection.Refused, true
		case e.Code == "3D000": // there is no such database
			return connection.Invalid, true
		case e.Code == "42501":
			return connection.Denied, true
		}
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1045: // access denied to the user
			return connection.Refused, true
		case 1044: // … to the database
			return connection.Denied, true
		case 1049: // there is no such database
			return connection.Invalid, true
		}
	}
	// pgx has only a text for it.
	if errors.Is(err, mysql.ErrNoTLS) || strings.Contains(err.Error(), "server refused TLS connection") {
		return connection.Untrusted, true
	}
	return "", false
}
