package zk_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// shared are the servers of all tests that need no special one. Each test has a namespace of its own there.
var shared struct{ plain, secure lateServer }

// lateServer is a server that starts when it is first needed, and lasts until all tests have ended.
type lateServer struct {
	start  sync.Once
	server *zkserver.Server
	err    error
}

func (l *lateServer) get(t testing.TB, cfg zkserver.Config) *zkserver.Server {
	t.Helper()
	zkserver.Require(t)
	l.start.Do(func() { l.server, l.err = zkserver.Run(context.Background(), cfg) })
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.server
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, l := range []*lateServer{&shared.plain, &shared.secure} {
		if l.server == nil {
			continue
		}
		if err := l.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func sharedServer(t testing.TB) *zkserver.Server {
	t.Helper()
	return shared.plain.get(t, zkserver.Config{})
}

// secureServer is a shared server that has a port with TLS, too.
func secureServer(t testing.TB) *zkserver.Server {
	t.Helper()
	return shared.secure.get(t, zkserver.Config{TLS: true})
}

// newLink returns a proxy to a server, which can be broken. It lasts until the test ends.
func newLink(t testing.TB, server *zkserver.Server) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// namespaces has the namespace of each running test; each run of a test gets a new one.
var namespaces struct {
	mu    sync.Mutex
	count int
	names map[testing.TB]string
}

func namespace(t testing.TB) string {
	namespaces.mu.Lock()
	defer namespaces.mu.Unlock()
	if namespaces.names == nil {
		namespaces.names = make(map[testing.TB]string)
	}
	name, ok := namespaces.names[t]
	if !ok {
		namespaces.count++
		name = fmt.Sprintf("test-%d", namespaces.count)
		namespaces.names[t] = name
		t.Cleanup(func() {
			namespaces.mu.Lock()
			defer namespaces.mu.Unlock()
			delete(namespaces.names, t)
		})
	}
	return name
}

// dial opens a registry until the test ends. Unless the configuration says otherwise it is at
// the shared server, in the test's namespace, and its bounds are long enough for a machine that
// stands still for some seconds.
func dial(t testing.TB, cfg zk.Config) *zk.Registry {
	t.Helper()
	if cfg.Servers == nil {
		cfg.Servers = []string{sharedServer(t).Addr()}
	}
	if cfg.Namespace == "" {
		cfg.Namespace = namespace(t)
	}
	cfg.SessionTimeout = cmp.Or(cfg.SessionTimeout, time.Minute)
	cfg.DialTimeout = cmp.Or(cfg.DialTimeout, 30*time.Second)
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 30*time.Second)
	r, err := zk.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Logf("close: %v", err)
		}
	})
	return r
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// dialBare opens the client library alone, until the test ends. It logs in unless the digest
// is empty.
func dialBare(t testing.TB, addr, digest string) *zookeeper.Conn {
	t.Helper()
	conn, events, err := zookeeper.Connect([]string{addr}, time.Minute, zookeeper.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		for range events { // ends with the client's goroutines
		}
	})
	if digest != "" {
		if err := conn.AddAuth("digest", []byte(digest)); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// await waits for a signal, for as long as a slow machine may need.
func await(t testing.TB, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(2 * time.Minute):
		t.Fatalf("waited for %s in vain", what)
	}
}

func commit(t testing.TB, r coord.Registry, ops ...coord.Op) int64 {
	t.Helper()
	revision, err := r.Commit(t.Context(), ops...)
	if err != nil {
		t.Errorf("commit %v: %v", ops, err)
	}
	return revision
}

func session(t testing.TB, r coord.Registry) coord.Session {
	t.Helper()
	s, err := r.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func awaitState(t testing.TB, s coord.Session, want coord.SessionState) {
	t.Helper()
	for {
		state, changed := s.State()
		if state == want {
			return
		}
		await(t, changed, "the session to be "+want.String())
	}
}

func view(t testing.TB, r coord.Registry, path string) coord.View {
	t.Helper()
	v, err := r.View(t.Context(), path, coord.AllLevels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func awaitView(t testing.TB, v coord.View, what string, wanted func(coord.Snapshot) bool) {
	t.Helper()
	for {
		changed := v.Changed()
		if wanted(v.Snapshot()) {
			return
		}
		await(t, changed, "a view to show "+what)
	}
}

// syncView returns what a view shows when it holds everything that was committed.
func syncView(t testing.TB, v coord.View) coord.Snapshot {
	t.Helper()
	if err := v.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v.Snapshot()
}

// names lists the children of a node.
func names(t testing.TB, r coord.Registry, path string) []string {
	t.Helper()
	nodes, err := r.List(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes {
		names = append(names, coord.Base(n.Path))
	}
	return names
}
