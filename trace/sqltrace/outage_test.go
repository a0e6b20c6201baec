package sqltrace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// outage is a test of a server that is away, or takes nothing.
type outage struct {
	*home
	tracer *sqltrace.Tracer
	n      int // of the last batch
}

// onServers runs a test on a server of its own of each kind.
func onServers(t *testing.T, cfg database.Config, test func(o *outage)) {
	for _, kind := range []database.Kind{database.MariaDB, database.PostgreSQL} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			cfg := cfg
			cfg.Kind = kind
			d, err := database.Start(t, cfg).Create(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			dialect := sqltrace.MySQL
			if kind == database.PostgreSQL {
				dialect = sqltrace.PostgreSQL
			}
			h := onServer(t, dialect, d)
			h.db.SetMaxIdleConns(0) // the test itself has none that is broken
			test(&outage{home: h, tracer: h.open(sqltrace.Options{})})
		})
	}
}

// batch is the next one.
func (o *outage) batch() trace.Batch {
	o.n++
	x := execution(o.n)
	return trace.Batch{
		Events: []trace.Event{event(1, jobtype.EventStarted, x), event(2, jobtype.EventFinished, x)},
		Lines:  []trace.Line{{Job: "settle", TaskID: x.TaskID, Number: 1, Time: began, Text: "line"}},
	}
}

// fails writes a batch, which must be given back soon, and nothing of it dropped.
func (o *outage) fails(b trace.Batch) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), 2*time.Second)
	defer cancel()
	err := o.tracer.Write(ctx, b)
	if err == nil {
		o.Error("it is taken")
		return
	}
	o.Log(err)
	if s := o.tracer.Stats(); s.Refused != 0 {
		o.Errorf("%d are dropped: %v", s.Refused, s.LastRefusal)
	}
	if strings.Contains(err.Error(), "of-the-tester") {
		o.Errorf("the password is told: %v", err)
	}
}

// kept checks that all batches are there once.
func (o *outage) kept() {
	o.Helper()
	want := fmt.Sprint(o.n)
	o.want(o.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE complete_time IS NOT NULL"), want)
	o.want(o.ask("SELECT COUNT(*) FROM ELASTICJOB_RUN_LOG WHERE line_number = 1"), want)
}

func (o *outage) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *outage) admin(statements string) string {
	o.Helper()
	answer, err := o.server.Exec(o.within(), o.name, statements)
	o.must(err)
	return answer
}

func TestOutages(t *testing.T) {
	onServers(t, database.Config{}, func(o *outage) {
		// Down at the start.
		o.must(o.server.Stop())
		b := o.batch()
		o.fails(b)
		o.fails(b)
		o.must(o.server.Restart(o.within()))
		o.write(o.tracer, b)
		o.kept()

		// Killed in between. The connections of the pool are of no use then.
		o.must(o.server.Kill())
		b = o.batch()
		o.fails(b)
		o.must(o.server.Restart(o.within()))
		o.write(o.tracer, b)
		o.kept()

		// Killed while it writes: nobody knows what became of the batch.
		for range 2 {
			b = o.killedAmid()
			o.must(o.server.Restart(o.within()))
			o.write(o.tracer, b)
			o.kept()
		}

		// Slow: somebody has locked a table.
		unlock := o.lockTables()
		b = o.batch()
		o.fails(b)
		unlock()
		o.write(o.tracer, b)
		o.kept()

		// Read-only.
		on, off := "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0"
		if o.dialect == sqltrace.PostgreSQL {
			on, off = "ALTER SYSTEM SET default_transaction_read_only = on", "ALTER SYSTEM RESET default_transaction_read_only"
		}
		o.setting(on)
		b = o.batch()
		o.fails(b)
		o.setting(off)
		o.write(o.tracer, b)
		o.kept()
	})
}

// killedAmid writes one batch after the other until the server is killed, and returns the last.
func (o *outage) killedAmid() trace.Batch {
	o.Helper()
	took, end := make(chan time.Duration, 2), make(chan trace.Batch)
	go func() {
		for {
			b, start := o.big(), time.Now()
			if err := o.tracer.Write(o.within(), b); err != nil {
				o.Log(err)
				end <- b
				return
			}
			select {
			case took <- time.Since(start):
			default: // the server is not killed yet
			}
		}
	}()
	<-took // with statements that are not prepared
	<-time.After(<-took / 2)
	o.must(o.server.Kill())
	return <-end
}

// setting changes one of the server's.
func (o *outage) setting(statement string) {
	o.Helper()
	o.admin(statement)
	if o.dialect == sqltrace.PostgreSQL {
		o.must(o.server.Stop())
		o.must(o.server.Restart(o.within()))
	}
}

// big is a batch that takes a while.
func (o *outage) big() trace.Batch {
	b := o.batch()
	for i := range 2000 {
		l := b.Lines[0]
		l.Number, l.Text = i+1, strings.Repeat("x", 1000)
		b.Lines = append(b.Lines[:i], l)
	}
	return b
}

func TestFullDisk(t *testing.T) {
	database.RequireDisk(t)
	onServers(t, database.Config{Disk: 160 << 20}, func(o *outage) {
		o.write(o.tracer, o.batch())
		where := "SELECT @@datadir"
		if o.dialect == sqltrace.PostgreSQL {
			where = "SHOW data_directory"
		}
		ballast := filepath.Join(o.admin(where), "ballast")
		fill(o.T, ballast)
		var b trace.Batch
		for o.n < 100 { // until its own files are full, too
			b = o.big()
			if err := o.tracer.Write(o.within(), b); err != nil {
				o.Log(err)
				break
			}
		}
		if o.n == 100 {
			o.Fatal("the disk is never full")
		}
		o.fails(b)
		o.must(os.Remove(ballast))
		o.write(o.tracer, b)
		o.kept()
	})
}

// fill fills the disk with a file.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(chunk)
	}
}

// SQLite has no server. Its disk is full, its file is read-only, or another process writes.
func TestSQLiteOutages(t *testing.T) {
	o := &outage{home: newHome(t, sqltrace.SQLite)}
	path := o.dsn
	o.tracer = o.open(sqltrace.Options{})
	o.write(o.tracer, o.batch())

	o.dsn = "file:" + path + "?_pragma=max_page_count(100)"
	o.tracer = o.open(sqltrace.Options{})
	full := o.big()
	o.fails(full)

	o.dsn = "file:" + path + "?mode=ro"
	o.tracer = o.open(sqltrace.Options{})
	o.fails(full)

	o.dsn = path
	o.tracer = o.open(sqltrace.Options{})
	unlock := o.lockTables()
	o.fails(full)
	unlock()
	o.write(o.tracer, full)
	o.kept()

	o.dsn = filepath.Join(filepath.Dir(path), "missing", "history.db")
	o.tracer = o.open(sqltrace.Options{})
	o.fails(full)
	if err := os.Mkdir(filepath.Dir(o.dsn), 0o700); err != nil {
		t.Fatal(err)
	}
	o.write(o.tracer, full)
}

// A batch whose time is over is given back.
func TestEndedContext(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		h.write(tracer, trace.Batch{})
		ctx, cancel := context.WithCancel(h.Context())
		cancel()
		b := trace.Batch{Events: []trace.Event{event(1, jobtype.EventStarted, execution(1))}}
		if err := tracer.Write(ctx, b); !errors.Is(err, context.Canceled) {
			h.Errorf("got %v", err)
		}
		h.write(tracer, b)
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG"), "1")
	})
}
