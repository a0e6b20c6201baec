package migrate_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test on real stores.
const patience = 3 * time.Minute

// calm bounds sessions, and requests to real stores: by their defaults of some seconds a session would
// be lost, and a request would fail, when the machine stands still.
const calm = time.Minute

// dial connects to the store of a test.
type dial func() (coord.Registry, error)

// open returns a registry that closes at the end of the test.
func open(t testing.TB, d dial) coord.Registry {
	t.Helper()
	reg, err := d()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := reg.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return reg
}

// inMemory is a store of its own.
func inMemory(t testing.TB) (*memory.Store, dial) {
	t.Helper()
	s := memory.NewStore(memory.Options{})
	t.Cleanup(s.Close)
	return s, func() (coord.Registry, error) { return s.Dial(t.Context(), memory.Config{Namespace: "ns"}) }
}

func onEtcd(t testing.TB) dial {
	t.Helper()
	s, err := etcdserver.Run(t.Context(), etcdserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return func() (coord.Registry, error) {
		return etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "ns", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
	}
}

func onZooKeeper(t testing.TB) dial {
	t.Helper()
	zkserver.Require(t)
	s, err := zkserver.Run(t.Context(), zkserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func() (coord.Registry, error) {
		return zk.Dial(t.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "ns", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
	}
}

// between is a move of all there is.
func between(from, to coord.Registry) migrate.Move {
	return migrate.Move{From: migrate.Store{Registry: from, Name: "old://ns"}, To: migrate.Store{Registry: to, Name: "new://ns"}, By: "anna", Why: "the old one goes"}
}

// put writes nodes, in the order of their paths.
func put(t testing.TB, reg coord.Registry, nodes map[string]string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(nodes)) {
		if _, err := reg.Commit(t.Context(), coord.Put(path, []byte(nodes[path]))); err != nil {
			t.Fatal(err)
		}
	}
}

// tree reads a namespace, without parents that nobody wrote and what belongs to the store.
func tree(t testing.TB, reg coord.Registry) map[string]string {
	t.Helper()
	nodes := map[string]string{}
	for n, err := range reg.Walk(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		nodes[n.Path] = string(n.Value)
	}
	delete(nodes, jobtree.Migrations) // the lock, which stays
	for path, value := range nodes {
		if parent := coord.Parent(path); (value != "" || path == coord.ClockPath) && nodes[parent] == "" {
			delete(nodes, parent)
		}
	}
	delete(nodes, coord.ClockPath)
	maps.DeleteFunc(nodes, func(path, value string) bool { // of each migration there is one
		return strings.HasPrefix(path, "~elasticjob/audit/") && strings.Contains(value, "migrat")
	})
	return nodes
}
