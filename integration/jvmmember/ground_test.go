package jvmmember_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// server is a namespace of a real ZooKeeper server, whose transaction log is the witness.
type server struct {
	server *zkserver.Server
	space  string
	names  map[coord.SessionID]string
}

func (g *server) dial(t testing.TB, name string) coord.Registry {
	t.Helper()
	r, err := zk.Dial(t.Context(), zk.Config{
		Servers: []string{g.server.Addr()}, Namespace: g.space, SessionTimeout: time.Minute, DialTimeout: patience, RequestTimeout: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := r.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.names[session.ID()] = name
	return r
}

func (g *server) written(t testing.TB) map[string][]string {
	t.Helper()
	texts := make(map[string][]string)
	for _, w := range readLogs(t, g.server.Data(), "/"+g.space+"/demoJob") {
		texts[g.names[w.session]] = append(texts[g.names[w.session]], w.text)
	}
	return texts
}

// simulated is a store in memory; the registries write down what they commit.
type simulated struct {
	store *memory.Store
	mu    sync.Mutex
	texts map[string][]string
}

func (g *simulated) dial(t testing.TB, name string) coord.Registry {
	t.Helper()
	r, err := g.store.Dial(t.Context(), memory.Config{Namespace: "test", SessionTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return &witness{r, g, name}
}

func (g *simulated) written(testing.TB) map[string][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	copied := make(map[string][]string)
	for name, texts := range g.texts {
		copied[name] = slices.Clone(texts)
	}
	return copied
}

// witness writes down what a registry commits.
type witness struct {
	coord.Registry
	ground *simulated
	name   string
}

func (w *witness) note(sign, path, value string) {
	const job = "demoJob"
	if !coord.Within(path, job) {
		return
	}
	if value != "" && value != "!" {
		value = "=" + value
	}
	path = path[len(job):]
	if path != "" {
		path = path[1:]
	}
	w.ground.texts[w.name] = append(w.ground.texts[w.name], sign+path+value)
}

func (w *witness) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	w.ground.mu.Lock()
	defer w.ground.mu.Unlock()
	before := w.ground.store.Snapshot("test")
	revision, err := w.Registry.Commit(ctx, ops...)
	if err != nil {
		return revision, err
	}
	for _, op := range ops {
		switch op.Kind {
		case coord.OpCreate:
			w.note("+", op.Path, string(op.Value))
		case coord.OpCreateEphemeral:
			w.note("+", op.Path, string(op.Value)+"!")
		case coord.OpPut, coord.OpSet, coord.OpSetAt:
			w.note("~", op.Path, string(op.Value))
		case coord.OpDelete, coord.OpDeleteTree:
			var paths []string
			for n := range before.All(op.Path) {
				paths = append(paths, n.Path)
			}
			for _, path := range slices.Backward(paths) {
				w.note("-", path, "")
			}
		}
	}
	return revision, nil
}

func (w *witness) Latch(path string) (coord.Latch, error) {
	l, err := w.Registry.Latch(path)
	return &watchedLatch{l, w, path + "/latch-1"}, err
}

func (w *witness) Close(ctx context.Context) error {
	session, err := w.Registry.Session(ctx)
	if err == nil {
		w.ground.mu.Lock()
		for n := range w.ground.store.Snapshot("test").All("") {
			if n.Owner == session.ID() {
				w.note("x", n.Path, "")
			}
		}
		w.ground.mu.Unlock()
	}
	return w.Registry.Close(ctx)
}

type watchedLatch struct {
	coord.Latch
	witness *witness
	path    string
}

func (l *watchedLatch) note(sign, value string) {
	l.witness.ground.mu.Lock()
	defer l.witness.ground.mu.Unlock()
	l.witness.note(sign, l.path, value)
}

func (l *watchedLatch) Acquire(ctx context.Context) (coord.Held, error) {
	l.note("+", "!")
	held, err := l.Latch.Acquire(ctx)
	return &watchedHeld{held, l}, err
}

type watchedHeld struct {
	coord.Held
	latch *watchedLatch
}

func (h *watchedHeld) Release(ctx context.Context) error {
	h.latch.note("-", "")
	return h.Held.Release(ctx)
}
