package sqltrace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/trace"
)

// Tracer keeps the history of jobs in a database. It is safe for use by many goroutines.
type Tracer struct {
	db      *sql.DB
	dialect Dialect
	o       Options
	log     *slog.Logger

	life context.Context // of what runs in the background
	stop context.CancelFunc
	wait sync.WaitGroup

	mu      sync.Mutex
	current *migration // the last one
	stats   Stats
	said    map[string]time.Time
}

// Options are the parts of a Tracer that have defaults.
type Options struct {
	// Hostname is written into the column hostname. Its default is what the system says.
	Hostname string
	// Retention bounds the tables. Without it they grow for ever.
	Retention Retention
	// Slog is told what is dropped or fails in the background. nil means silence.
	Slog *slog.Logger
}

// Stats is what a Tracer has done since it was opened.
type Stats struct {
	// Written is how many events and lines of batches were written.
	Written int64
	// Refused is how many events and lines the database would not take, and so were dropped;
	// LastRefusal is why the last one was.
	Refused     int64
	LastRefusal error
	// Garbled is how many events and lines were kept with ? instead of all characters that are not ASCII, because
	// the character set of a table does not have some of them; LastGarbling is what the database said to the last one.
	Garbled      int64
	LastGarbling error
	// Passes is how many passes of retention were made here, and Removed how many rows they have
	// removed.
	Passes  int64
	Removed Removed
	// RetentionFailed is why the last pass of retention failed; nil if it did not.
	RetentionFailed error
}

var _ trace.Sink = (*Tracer)(nil)

// Open returns a Tracer for a database that may be down: nothing is asked of it until the first
// batch comes, or retention begins. db is for the Tracer alone, because on MySQL the sessions
// of its pool are set to UTC. Close the Tracer before db, and the recorder before the Tracer.
//
// SQLite in memory has another database for each connection of a pool: then db needs
// SetMaxOpenConns(1), and must not close that connection for its age.
func Open(db *sql.DB, d Dialect, o Options) (*Tracer, error) {
	if db == nil {
		return nil, errors.New("sqltrace: no database")
	}
	if d < SQLite || d > PostgreSQL {
		return nil, fmt.Errorf("sqltrace: %v: SQLite, MySQL or PostgreSQL are allowed", d)
	}
	if err := o.Retention.check(); err != nil {
		return nil, fmt.Errorf("sqltrace: retention: %w", err)
	}
	if o.Hostname == "" {
		name, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("sqltrace: name of this host: %w", err)
		}
		o.Hostname = name
	}
	t := &Tracer{db: db, dialect: d, o: o, log: cmp.Or(o.Slog, slog.New(slog.DiscardHandler)), said: map[string]time.Time{}}
	t.life, t.stop = context.WithCancel(context.Background())
	if o.Retention.bounded() {
		t.wait.Go(func() { t.retain(t.life) })
	}
	return t, nil
}

// Close ends what runs in the background, and waits for it. It does not close the database.
func (t *Tracer) Close() {
	t.mu.Lock()
	t.stop() // from now on nothing begins
	t.mu.Unlock()
	t.wait.Wait()
}

// Stats returns what was done until now.
func (t *Tracer) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}

// note changes the figures.
func (t *Tracer) note(change func(*Stats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.stats)
}

// sayEvery is how often the log is told of the same kind of trouble.
const sayEvery = time.Minute

// sayNow reports whether it is time to say something again.
func (t *Tracer) sayNow(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if last, ok := t.said[what]; ok && now.Sub(last) < sayEvery {
		return false
	}
	t.said[what] = now
	return true
}
