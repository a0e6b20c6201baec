package target

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace/sqlfile"
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

// OpenHistory opens the database that settings name; nil if they name none. That their context has one of another
// namespace is an error. No error shows its address, which may have a password.
func (s Settings) OpenHistory() (*History, error) {
	if s.noHistory != "" {
		return nil, errors.New(s.noHistory)
	}
	if s.History == "" {
		return nil, nil
	}
	address, err := property.Expand(s.History, property.FromProcess())
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok && file != "" {
		if _, err := os.Stat(file); err != nil { // the driver would make an empty one
			return nil, fmt.Errorf("history: %w", err)
		}
	}
	db, dialect, err := sqlfile.OpenDatabase(address)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	tracer, err := sqltrace.Open(db, dialect, sqltrace.Options{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("history: %w", err), db.Close())
	}
	return &History{tracer, db}, nil
}
