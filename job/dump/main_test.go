package dump_test

import (
	"context"
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

// patience bounds every wait of a test. lasting is the time-out of sessions, and with half of it for a
// request longer than a host takes all CPUs away, which are a dozen seconds at times.
const patience, lasting = 3 * time.Minute, 40 * time.Second

// dial connects to the store of a test.
type dial func() (coord.Registry, error)

// onEveryStore runs a test on the simulator, on etcd and on ZooKeeper.
func onEveryStore(t *testing.T, behaviour func(*testing.T, dial)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { behaviour(t, inMemory(t)) })
	t.Run("etcd", func(t *testing.T) { behaviour(t, onEtcd(t)) })
	t.Run("zookeeper", func(t *testing.T) { behaviour(t, onZooKeeper(t)) })
}

func inMemory(t testing.TB) dial {
	s := memory.NewStore(memory.Options{})
	t.Cleanup(s.Close)
	return func() (coord.Registry, error) { return s.Dial(t.Context(), memory.Config{Namespace: "dump"}) }
}

func onEtcd(t testing.TB) dial {
	s, err := etcdserver.Run(t.Context(), etcdserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return func() (coord.Registry, error) {
		return etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "dump", SessionTimeout: lasting, RequestTimeout: lasting / 2})
	}
}

func onZooKeeper(t testing.TB) dial {
	zkserver.Require(t)
	s, err := zkserver.Run(t.Context(), zkserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func() (coord.Registry, error) {
		return zk.Dial(t.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "dump", SessionTimeout: lasting, RequestTimeout: lasting / 2})
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

// rarely is a schedule that does not fire during a test.
const rarely = "0 0 0 1 1 ? 2099"

// runs starts a process of a job, which ends with the test.
func runs(t testing.TB, reg coord.Registry, cfg job.Config, ip string) *job.Scheduler {
	t.Helper()
	nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	s, err := job.Schedule(t.Context(), reg, cfg, nothing, job.WithIP(ip))
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
func await(t testing.TB, s *job.Scheduler, what string, ok func(job.Status) bool) {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		changed := s.Changed()
		if ok(s.Status()) {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("not seen in %v: %s; the status is %+v", patience, what, s.Status())
		}
	}
}
