package declare_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test.
const patience = 3 * time.Minute

// calm bounds sessions, and requests to real stores: by their defaults of some seconds a session would
// be lost, and a request would fail, when the machine stands still.
const calm = time.Minute

// dial connects to the store of a test.
type dial func() (coord.Registry, error)

// onEveryStore runs a test on the simulator, on etcd and on ZooKeeper.
func onEveryStore(t *testing.T, behaviour func(*testing.T, dial)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { behaviour(t, inMemory(t)) })
	t.Run("etcd", func(t *testing.T) {
		s, err := etcdserver.Run(t.Context(), etcdserver.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		behaviour(t, func() (coord.Registry, error) {
			return etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "declare", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
		})
	})
	t.Run("zookeeper", func(t *testing.T) {
		zkserver.Require(t)
		s, err := zkserver.Run(t.Context(), zkserver.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		behaviour(t, func() (coord.Registry, error) {
			return zk.Dial(t.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "declare", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
		})
	})
}

func inMemory(t testing.TB) dial {
	t.Helper()
	s := memory.NewStore(memory.Options{})
	t.Cleanup(s.Close)
	return func() (coord.Registry, error) {
		return s.Dial(t.Context(), memory.Config{Namespace: "declare", SessionTimeout: calm})
	}
}

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

// counting counts commits.
type counting struct {
	coord.Registry
	commits atomic.Int64
}

func (c *counting) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	c.commits.Add(1)
	return c.Registry.Commit(ctx, ops...)
}

// files reads what a file would say.
func files(t testing.TB, text string) *jobfile.Declarations {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := jobfile.Declare(jobfile.Options{Profiles: []string{}}, path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func plan(t testing.TB, o *ops.Ops, r declare.Request) *declare.Plan {
	t.Helper()
	p, err := declare.NewPlan(t.Context(), o, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apply applies what a file says, without trouble.
func apply(t testing.TB, o *ops.Ops, r declare.Request) {
	t.Helper()
	for _, result := range plan(t, o, r).Apply(t.Context(), o, nil) {
		if result.Err != nil {
			t.Fatalf("%s %s: %v", result.Action, result.Name, result.Err)
		}
	}
}

// summary shows a plan in words, one for each step.
func summary(p *declare.Plan) string {
	var words []string
	for _, s := range p.Steps {
		words = append(words, string(s.Action)+" "+s.Name)
	}
	return strings.Join(words, ", ")
}
