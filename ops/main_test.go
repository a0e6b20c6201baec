package ops_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test.
const patience = 3 * time.Minute

// calm bounds sessions, and requests to real stores: by their defaults of some seconds a session would
// be lost, and a request would fail, when the machine stands still.
const calm = time.Minute

// onEveryStore runs a test on the simulator, on etcd and on ZooKeeper.
func onEveryStore(t *testing.T, behaviour func(*testing.T, dial)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		s := memory.NewStore(memory.Options{})
		t.Cleanup(s.Close)
		behaviour(t, func() (coord.Registry, error) {
			return s.Dial(t.Context(), memory.Config{Namespace: "ops", SessionTimeout: calm})
		})
	})
	t.Run("etcd", func(t *testing.T) {
		s, err := etcdserver.Run(t.Context(), etcdserver.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		behaviour(t, func() (coord.Registry, error) {
			return etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "ops", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
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
			return zk.Dial(t.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "ops", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
		})
	})
}

// dial connects to the store of a test.
type dial func() (coord.Registry, error)

// open returns a registry that closes at the end of the test.
func open(t *testing.T, d dial) coord.Registry {
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

// runs starts a process of a job, which ends with the test.
func runs(t *testing.T, d dial, cfg job.Config, ip string, h job.HandlerFunc, opts ...job.Option) *job.Scheduler {
	t.Helper()
	s, err := job.Schedule(t.Context(), open(t, d), cfg, h, append(opts, job.WithIP(ip))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return s
}

// await waits until the status of a process is as wanted.
func await(t *testing.T, s *job.Scheduler, what string, ok func(job.Status) bool) job.Status {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		changed := s.Changed()
		status := s.Status()
		if ok(status) {
			return status
		}
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("not seen in %v: %s; the status is %+v", patience, what, status)
		}
	}
}

// wired is a registry that counts what it is asked for, and has commits answered otherwise.
type wired struct {
	coord.Registry
	gets, walks int
	reads       func(path string)                                 // each Get, before it; may be nil
	sees        func([]coord.Op)                                  // each commit; may be nil
	answer      func(commit func() (int64, error)) (int64, error) // nil is commit
}

func (w *wired) Get(ctx context.Context, path string) (coord.Node, error) {
	w.gets++
	if w.reads != nil {
		w.reads(path)
	}
	return w.Registry.Get(ctx, path)
}

func (w *wired) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	w.walks++
	return w.Registry.Walk(ctx, path)
}

func (w *wired) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if w.sees != nil {
		w.sees(ops)
	}
	commit := func() (int64, error) { return w.Registry.Commit(ctx, ops...) }
	if w.answer == nil {
		return commit()
	}
	return w.answer(commit)
}
