package legacy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// patience bounds what a test waits for.
const patience = 20 * time.Second

// world is a console with two registry centres, prod and test. In prod two jobs run on 10.0.0.1, and a third
// one runs nowhere; its history is in the data source past.
type world struct {
	t      *testing.T
	table  *route.Table
	server *httptest.Server
	store  *memory.Store
	prod   *ops.Ops
	book   *fakeBook

	mu   sync.Mutex
	runs []string // jobs and items that ran
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

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, store: memory.NewStore(memory.Options{})}
	t.Cleanup(w.store.Close)
	past := newPast(t)
	w.prod = ops.New(w.dial("prod"), ops.WithHistory(past))
	w.book = &fakeBook{
		centers: []Center{{Name: "prod", Endpoints: []string{"10.1.0.1:2181", "10.1.0.2:2181"}, Path: "jobs", Database: "past"}, {Name: "test", Etcd: true, Endpoints: []string{"10.2.0.1:2379"}, Path: "jobs"}},
		sources: []Source{{Name: "past", Driver: "mysql", Address: "db:3306", Schema: "jobs", User: "anna", Namespaces: []string{"prod"}}},
		ops:     map[string]*ops.Ops{"prod": w.prod, "test": ops.New(w.dial("test"))},
		reader:  past,
	}
	w.run(job.Config{Name: "settle", Cron: "0 0 3 1 1 ?", ShardingTotalCount: 2, ShardingItemParameters: "0=a,1=b", Failover: true, Description: "Settles <all>", ErrorHandler: "IGNORE"})
	w.run(job.Config{Name: "report", Cron: "0 0 4 1 1 ?", ShardingTotalCount: 1, Strategy: "ODEVITY", Props: map[string]string{"streaming.process": "true"}})
	if err := w.prod.Create(t.Context(), ops.CreateRequest{Config: job.Config{Name: "once", ShardingTotalCount: 1}, Implementation: "com.example.Once"}); err != nil {
		t.Fatal(err)
	}

	w.table = &route.Table{Who: who, Fail: func(rw http.ResponseWriter, _ *http.Request, err error) {
		http.Error(rw, err.Error(), route.Status(err))
	}}
	err := Add(w.table, Options{Book: w.book, Zone: time.FixedZone("GMT+8", 8*3600), Log: slog.New(slog.DiscardHandler), Login: login})
	if err != nil {
		t.Fatal(err)
	}
	w.server = httptest.NewServer(w.table)
	t.Cleanup(w.server.Close)
	return w
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

func login(_ *http.Request, name, password string) (user, token string, err error) {
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
func newPast(t *testing.T) *sqltrace.Tracer {
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
	add := func(n int, name, ip string, kind trace.Kind, outcome job.Outcome, text string) {
		at := night.Add(time.Duration(n) * time.Minute)
		e := trace.Event{
			ID: fmt.Sprintf("event-%d-%d", n, kind), Time: at, Kind: kind, Job: name, Instance: ip + "@-@1",
			Execution: job.Execution{TaskID: fmt.Sprintf("task-%d", n), Item: n % 2, Source: job.SourceNormal},
		}
		if kind == trace.KindFinished {
			e.Time, e.Outcome, e.Took, e.Error = at.Add(1500*time.Millisecond), outcome, 1500*time.Millisecond, text
		}
		b.Events = append(b.Events, e)
	}
	for n := range 12 {
		add(n, "settle", "10.0.0.1", trace.KindStarted, 0, "")
		add(n, "settle", "10.0.0.1", trace.KindFinished, job.OutcomeOK, "")
	}
	add(20, "report", "10.0.0.2", trace.KindStarted, 0, "")
	add(20, "report", "10.0.0.2", trace.KindFinished, job.OutcomeFailed, "no 'paper' <in> tray=2")
	add(21, "report", "10.0.0.2", trace.KindStarted, 0, "")
	if err := tracer.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return tracer
}

// fakeBook keeps what is added, and the secrets of that.
type fakeBook struct {
	mu      sync.Mutex
	centers []Center
	sources []Source
	secrets []string
	ops     map[string]*ops.Ops
	reader  history.Reader
}

func (b *fakeBook) Centers() []Center {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.centers)
}

func (b *fakeBook) Ops(_ context.Context, name string) (*ops.Ops, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.ops[name]; o != nil {
		return o, nil
	}
	return nil, ops.ErrStoreAway
}

func (b *fakeBook) AddCenter(_ context.Context, c Center, digest string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.ContainsFunc(b.centers, func(is Center) bool { return is.Name == c.Name }) {
		return ErrExists
	}
	b.centers, b.secrets = append(b.centers, c), append(b.secrets, digest)
	return nil
}

func (b *fakeBook) RemoveCenter(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.centers)
	b.centers = slices.DeleteFunc(b.centers, func(c Center) bool { return c.Name == name })
	if len(b.centers) == n {
		return connection.ErrNoNamespace
	}
	return nil
}

func (b *fakeBook) Sources() []Source {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sources)
}

func (b *fakeBook) History(_ context.Context, name string) (history.Reader, error) {
	if name != "past" {
		return nil, ops.ErrStoreAway
	}
	return b.reader, nil
}

func (b *fakeBook) AddSource(_ context.Context, s Source, password string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.ContainsFunc(b.sources, func(is Source) bool { return is.Name == s.Name }) {
		return ErrExists
	}
	b.sources, b.secrets = append(b.sources, s), append(b.secrets, password)
	return nil
}

func (b *fakeBook) RemoveSource(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sources = slices.DeleteFunc(b.sources, func(s Source) bool { return s.Name == name })
	return nil
}

func (b *fakeBook) TestSource(_ context.Context, s Source, _ string) error {
	if s.Address != "db:3306" {
		return errors.New("unreachable")
	}
	return nil
}

// names of people, for tests that go over all.
func names() []string { return slices.Sorted(maps.Keys(people())) }
