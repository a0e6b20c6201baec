package connection_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

const hunter = "hunter2-and-more"

// world is what a book of a test connects to.
type world struct {
	stores map[string]*memory.Store // by their first endpoints
	dials  atomic.Int32
	file   string

	mu        sync.Mutex
	passwords []string // that were sent, with the endpoint or address
	histories []*past
	hangs     bool // the databases
	fails     error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{stores: map[string]*memory.Store{}, file: filepath.Join(t.TempDir(), "connections.yaml")}
	for _, name := range []string{"near:1", "far:1"} {
		w.stores[name] = memory.NewStore(memory.Options{})
		t.Cleanup(w.stores[name].Close)
	}
	return w
}

func (w *world) dial(ctx context.Context, n connection.Namespace) (coord.Registry, error) {
	w.dials.Add(1)
	w.mu.Lock()
	w.passwords = append(w.passwords, n.Endpoints[0]+" "+n.Password.Reveal())
	w.mu.Unlock()
	store := w.stores[n.Endpoints[0]]
	switch {
	case n.Endpoints[0] == "hang:1":
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", coord.ErrUnavailable, context.Cause(ctx))
	case store == nil:
		return nil, fmt.Errorf("%w: etcd://%s:%s@%s", coord.ErrUnavailable, n.User, n.Password.Reveal(), n.Endpoints[0])
	}
	return store.Dial(ctx, memory.Config{Namespace: n.Path})
}

// past is a database of a test.
type past struct {
	connection.Past
	world  *world
	closed atomic.Bool
	wrote  atomic.Int32
}

func (w *world) open(d connection.Database) (connection.History, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passwords = append(w.passwords, d.Address+" "+d.Password.Reveal())
	p := &past{world: w}
	w.histories = append(w.histories, p)
	return p, nil
}

func (p *past) answer(ctx context.Context) error {
	p.world.mu.Lock()
	hangs, fails := p.world.hangs, p.world.fails
	p.world.mu.Unlock()
	if p.closed.Load() {
		return errors.New("sql: database is closed")
	}
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return fails
}

// set says how the databases answer from now on.
func (w *world) set(hangs bool, fails error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hangs, w.fails = hangs, fails
}

func (p *past) Ping(ctx context.Context) error { return p.answer(ctx) }

func (p *past) JobNames(ctx context.Context, _ string, _ int) ([]string, error) {
	return []string{"settle"}, p.answer(ctx)
}

func (p *past) Execution(ctx context.Context, _ string) (history.Execution, error) {
	if err := p.answer(ctx); err != nil {
		return history.Execution{}, err
	}
	return history.Execution{}, history.ErrNotFound
}

func (p *past) Write(ctx context.Context, _ trace.Batch) error {
	p.wrote.Add(1)
	return p.answer(ctx)
}

func (p *past) Close() error {
	p.closed.Store(true)
	return nil
}

// book opens a book, and closes it at the end of the test.
func (w *world) book(t *testing.T, change func(*connection.Options)) *connection.Book {
	t.Helper()
	o := connection.Options{File: w.file, Dial: w.dial, OpenHistory: w.open, Slog: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if change != nil {
		change(&o)
	}
	b, err := connection.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeBook(t, b) })
	return b
}

func closeBook(t *testing.T, b *connection.Book) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func withKey(t *testing.T) func(*connection.Options) {
	t.Helper()
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return func(o *connection.Options) { o.Keys = keys }
}

func near(name string) connection.Namespace {
	return connection.Namespace{Name: name, Kind: connection.Etcd, Endpoints: []string{"near:1"}, Path: "shop/jobs"}
}

func (w *world) write(t *testing.T, document string) {
	t.Helper()
	if err := os.WriteFile(w.file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) read(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Entries are added, found again by another process, changed and removed, each with its version.
func TestEntries(t *testing.T) {
	w := newWorld(t)
	b := w.book(t, nil)
	ctx := access.With(t.Context(), &access.Principal{Name: "anna", Address: "10.0.0.7"})
	if _, err := b.Ops(ctx, "prod"); !errors.Is(err, connection.ErrNoNamespace) {
		t.Errorf("before: %v", err)
	}
	first, err := b.PutNamespace(ctx, near("prod"), connection.NoVersion)
	if err != nil || first.Version == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := b.PutNamespace(ctx, near("prod"), connection.NoVersion); !errors.Is(err, connection.ErrExists) {
		t.Errorf("again: %v", err)
	}
	if _, err := b.PutNamespace(ctx, near("other"), first.Version); !errors.Is(err, connection.ErrNoNamespace) {
		t.Errorf("a version of nothing: %v", err)
	}
	o, err := b.Ops(ctx, "prod")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Removed(ctx); err != nil {
		t.Error(err)
	}
	other := w.book(t, nil)
	second := first
	second.Path = "shop/more"
	if second, err = other.PutNamespace(ctx, second, first.Version); err != nil || second.Version == first.Version {
		t.Fatalf("%+v, %v", second, err)
	}
	if _, err := b.PutNamespace(ctx, first, first.Version); !errors.Is(err, connection.ErrVersion) {
		t.Errorf("the version of before: %v", err)
	}
	if err := b.RemoveNamespace(ctx, "prod", first.Version); !errors.Is(err, connection.ErrVersion) {
		t.Errorf("remove the version of before: %v", err)
	}
	if err := b.RemoveNamespace(ctx, "prod", second.Version); err != nil {
		t.Error(err)
	}
	if err := b.RemoveNamespace(ctx, "prod", connection.AnyVersion); !errors.Is(err, connection.ErrNoNamespace) {
		t.Errorf("remove again: %v", err)
	}
	if all := b.Namespaces(); len(all) != 0 {
		t.Errorf("left: %+v", all)
	}
	trail, err := os.ReadFile(w.file + ".log")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"kind":"namespace put","by":"anna","address":"10.0.0.7","detail":"prod: etcd://near:1/shop/jobs"`, `"kind":"namespace removed"`} {
		if !strings.Contains(string(trail), part) {
			t.Errorf("the trail has no %s: %s", part, trail)
		}
	}
}

// A password does not follow an entry to another place.
func TestPasswordStaysWhereItWasMeantFor(t *testing.T) {
	w := newWorld(t)
	key := withKey(t)
	b := w.book(t, key)
	ctx := t.Context()
	n := near("prod")
	n.User, n.Password = "ops", connection.Plain(hunter)
	n, err := b.PutNamespace(ctx, n, connection.NoVersion)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.read(t), hunter) || !strings.Contains(w.read(t), "enc:v1:") {
		t.Errorf("the file has %s", w.read(t))
	}
	for name, change := range map[string]func(*connection.Namespace){
		"kind":      func(n *connection.Namespace) { n.Kind = connection.ZooKeeper },
		"endpoints": func(n *connection.Namespace) { n.Endpoints = []string{"far:1"} },
		"user":      func(n *connection.Namespace) { n.User = "root" },
		"tls":       func(n *connection.Namespace) { n.TLS = &connection.TLS{ServerName: "evil"} },
	} {
		changed := n
		change(&changed)
		if _, err := b.PutNamespace(ctx, changed, n.Version); !errors.Is(err, connection.ErrElsewhere) {
			t.Errorf("%s: %v", name, err)
		}
		if err := b.TestNamespace(ctx, changed); !errors.Is(err, connection.ErrElsewhere) {
			t.Errorf("test %s: %v", name, err)
		}
	}
	n.Path = "shop/more"
	if n, err = b.PutNamespace(ctx, n, n.Version); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Ops(ctx, "prod"); err != nil {
		t.Fatal(err)
	}
	for _, sent := range w.passwords {
		if sent != "near:1 "+hunter {
			t.Errorf("sent %s", sent)
		}
	}
	// Nor when somebody changes the file by hand.
	closeBook(t, b)
	w.write(t, strings.ReplaceAll(w.read(t), "near:1", "far:1"))
	b = w.book(t, key)
	if _, err := b.Ops(ctx, "prod"); !errors.Is(err, ops.ErrStoreAway) || !strings.Contains(err.Error(), "no key decrypts it") {
		t.Errorf("by hand: %v", err)
	}
}

func TestFixed(t *testing.T) {
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := reg.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	given := ops.New(reg)
	b := connection.Fixed(map[string]*ops.Ops{"a": given})
	defer closeBook(t, b)
	if o, err := b.Ops(t.Context(), "a"); o != given || err != nil {
		t.Errorf("%v, %v", o, err)
	}
	if _, err := b.PutNamespace(t.Context(), near("b"), connection.NoVersion); !errors.Is(err, connection.ErrFixed) {
		t.Error(err)
	}
	if all := b.Namespaces(); len(all) != 1 || !all[0].Fixed {
		t.Errorf("%+v", all)
	}
}
