package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "modernc.org/sqlite" // the driver

	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// past is the history.
type past struct {
	*sqltrace.Tracer
	db *sql.DB
}

func openHistory(file string) (*past, error) {
	// Several processes write: who begins to, waits for the others.
	db, err := sql.Open("sqlite", file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("history: %w", err), db.Close())
	}
	return &past{tracer, db}, nil
}

// Ping asks whether it is there.
func (p *past) Ping(ctx context.Context) error { return p.db.PingContext(ctx) }

// Close ends the connections.
func (p *past) Close() error {
	p.Tracer.Close()
	return p.db.Close()
}
