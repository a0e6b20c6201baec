package legacy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// patience bounds what a test waits for. A machine may stand still.
const patience = 2 * time.Minute

// world is a console with two registry centres, prod and test. In prod two jobs run on 10.0.0.1, and a third
// one runs nowhere; its history is in the data source past.
type world struct {
	t     testing.TB
	table *route.Table
	store *memory.Store
	prod  *ops.Ops
	book  *connection.Book

	// between is called before each commit to prod.
	between func([]coord.Op) error

	log journal

	mu      sync.Mutex
	runs    []string // jobs and items that ran
	secrets []string // users and passwords with which the console has connected
}

// people are the users, each with a password and an Access-Token that are the name.
func people() map[string]*access.Principal {
	grant := func(role access.Role, namespaces, jobs []string) []access.Grant {
		return []access.Grant{{Role: role, Namespaces: namespaces, Jobs: jobs}}
	}
	all := map[string]*access.Principal{
		"root":     {Grants: grant(access.Admin, nil, nil)},
		"guest":    {Grants: grant(access.Viewer, nil, nil)},
		"operator": {Grants: grant(access.Operator, []string{"prod"}, nil)},
		"some":     {Grants: grant(access.Admin, []string{"prod"}, []string{"settle"})},
		"tester":   {Grants: grant(access.Admin, []string{"test"}, nil)},
		"nobody":   {},
	}
	for name, p := range all {
		p.Name, p.Key, p.Address = name, "key of "+name, "192.0.2.7"
	}
	return all
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, store: memory.NewStore(memory.Options{})}
	t.Cleanup(w.store.Close)
	tracer := newPast(t)
	w.prod = ops.New(w.dial("prod"), ops.WithHistory(tracer))
	w.open(t, ops.New(w.dial("test")), tracer)
	w.run(job.Config{Name: "settle", Cron: "0 0 3 1 1 ?", ShardingTotalCount: 2, ShardingItemParameters: "0=a,1=b", Failover: true, Description: "Settles <all>", ErrorHandler: "IGNORE"})
	w.run(job.Config{Name: "report", Cron: "0 0 4 1 1 ?", ShardingTotalCount: 1, Strategy: "ODEVITY", Props: map[string]string{"streaming.process": "true"}})
	if err := w.prod.Create(t.Context(), ops.CreateRequest{Config: job.Config{Name: "once", ShardingTotalCount: 1}, Implementation: "com.example.Once"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// open opens the console: its book, and its routes.
func (w *world) open(t testing.TB, other *ops.Ops, tracer *sqltrace.Tracer) {
	t.Helper()
	past := connection.Database{Name: "past", Driver: connection.MySQL, Address: "db:3306", Schema: "jobs", User: "anna"}
	prod := connection.Namespace{Name: "prod", Kind: connection.ZooKeeper, Endpoints: []string{"10.1.0.1:2181", "10.1.0.2:2181"}, Path: "jobs", Database: "past"}
	test := connection.Namespace{Name: "test", Kind: connection.Etcd, Endpoints: []string{"10.2.0.1:2379"}, Path: "jobs"}
	w.book = newBook(t, connection.Options{
		Given:          []connection.Given{{Namespace: prod, Ops: w.prod}, {Namespace: test, Ops: other}},
		GivenDatabases: []connection.GivenDatabase{{Database: past, Open: func() (connection.History, error) { return open{Tracer: tracer}, nil }}},
		Dial: func(_ context.Context, n connection.Namespace) (coord.Registry, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.secrets = append(w.secrets, n.User+" "+n.Password.Reveal())
			return nil, errors.New("nobody is at home")
		},
		OpenHistory: func(d connection.Database) (connection.History, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.secrets = append(w.secrets, d.User+" "+d.Password.Reveal())
			if d.Address == past.Address {
				return open{Tracer: tracer}, nil
			}
			return open{tracer, &connection.TestError{Reason: connection.Unreachable, Err: errors.New("no route to 10.9.9.9")}}, nil
		},
	})
	w.table = &route.Table{Who: who, Fail: func(rw http.ResponseWriter, _ *http.Request, err error) {
		http.Error(rw, err.Error(), route.Status(err))
	}}
	routes, err := newRoutes(Options{Connections: w.book, Zone: time.FixedZone("GMT+8", 8*3600), Slog: slog.New(slog.NewTextHandler(&w.log, nil))}, checkPerson)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.table.Mount(routes); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request as somebody, in the way of 2.1.5.
func (w *world) ask(who, method, path, body string) string {
	w.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		r.SetBasicAuth(who, who)
	}
	return w.send(r)
}

// who knows people by Basic and by Access-Token.
func who(r *http.Request) (*access.Principal, error) {
	if token := r.Header.Get("Access-Token"); token != "" {
		return people()[token], nil
	}
	name, password, ok := r.BasicAuth()
	if ok && name != password {
		return nil, errWrong
	}
	return people()[name], nil
}

var errWrong = fmt.Errorf("%w: wrong name or password", route.ErrNobody)

func checkPerson(_ *http.Request, name, password string) (user, token string, err error) {
	if people()[name] == nil || name != password {
		return "", "", errWrong
	}
	return name, name, nil
}

func (w *world) dial(namespace string) *memory.Registry {
	w.t.Helper()
	reg, err := w.store.Dial(w.t.Context(), memory.Config{Namespace: namespace})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := reg.Close(ctx); err != nil {
			w.t.Errorf("close: %v", err)
		}
	})
	return reg
}

// run runs a job on 10.0.0.1, until the test ends or somebody shuts it down.
func (w *world) run(c job.Config) {
	w.t.Helper()
	handler := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.runs = append(w.runs, fmt.Sprint(c.Name, " ", sc.Item))
		return nil
	})
	s, err := job.Schedule(w.t.Context(), w.dial("prod"), c, handler, job.WithIP("10.0.0.1"), job.WithImplementation("com.example."+c.Name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil && !errors.Is(err, job.ErrInstanceRemoved) && !errors.Is(err, job.ErrJobRemoved) {
			w.t.Errorf("shutdown of %s: %v", c.Name, err)
		}
	})
	w.await(c.Name+" has its items", func() bool { return len(s.Status().Items) == c.ShardingTotalCount })
}

// await waits until something holds.
func (w *world) await(what string, holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// ran returns how often items ran.
func (w *world) ran(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, run := range w.runs {
		if run == what {
			n++
		}
	}
	return n
}

// newPast is a database with the runs of two jobs on New Year's morning.
func newPast(t testing.TB) *sqltrace.Tracer {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "past.db"))
	if err != nil {
		t.Fatal(err)
	}
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{Hostname: "host-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tracer.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	night := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	var b trace.Batch
	add := func(n int, name, ip string, kind jobtype.EventKind, outcome job.Outcome, text string) {
		at := night.Add(time.Duration(n) * time.Minute)
		e := trace.Event{
			ID: fmt.Sprintf("event-%d-%d", n, kind), Time: at, Kind: kind, Job: name, Instance: ip + "@-@1",
			Execution: job.Execution{TaskID: fmt.Sprintf("task-%d", n), Item: n % 2, Source: job.SourceNormal},
		}
		if kind == jobtype.EventFinished {
			e.Time, e.Outcome, e.Took, e.Error = at.Add(1500*time.Millisecond), outcome, 1500*time.Millisecond, text
		}
		b.Events = append(b.Events, e)
	}
	for n := range 12 {
		add(n, "settle", "10.0.0.1", jobtype.EventStarted, 0, "")
		add(n, "settle", "10.0.0.1", jobtype.EventFinished, job.OutcomeOK, "")
	}
	add(20, "report", "10.0.0.2", jobtype.EventStarted, 0, "")
	add(20, "report", "10.0.0.2", jobtype.EventFinished, job.OutcomeFailed, "no 'paper' <in> tray=2")
	add(21, "report", "10.0.0.2", jobtype.EventStarted, 0, "")
	if err := tracer.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return tracer
}

func newBook(t testing.TB, o connection.Options) *connection.Book {
	t.Helper()
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	o.File, o.Keys, o.Allow.Folders = filepath.Join(folder, "connections.yaml"), keys, []string{folder}
	o.Slog = slog.New(slog.DiscardHandler)
	book, err := connection.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := book.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return book
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// open is a database as a book has it.
type open struct {
	*sqltrace.Tracer
	err error
}

func (o open) JobNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	if o.err != nil {
		return nil, o.err
	}
	return o.Tracer.JobNames(ctx, prefix, limit)
}

func (o open) Ping(context.Context) error { return o.err }
func (open) Close() error                 { return nil } // it is the test's
