package etcd_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// BenchmarkRegistry and BenchmarkBareClient measure the same, over the same kind of
// server and link. Compare them within one run.
func BenchmarkRegistry(b *testing.B) { coordtest.Benchmark(b, newStore) }

// BenchmarkCommits has a server in the same process, which writes to its disk.
func BenchmarkCommits(b *testing.B) {
	coordtest.BenchmarkCommits(b, func(b *testing.B) coord.Registry {
		server := etcdserver.Start(b, etcdserver.Config{Fsync: true})
		r, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "bench", SessionTimeout: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = r.Close(context.Background()) }) // how it ends is not the question
		return r
	})
}

// BenchmarkBareClient is what etcd's own client does in the place of each benchmark of
// coordtest.
func BenchmarkBareClient(b *testing.B) {
	server := etcdserver.Start(b, etcdserver.Config{})
	b.Run("put", func(b *testing.B) {
		c := bareClient(b, server)
		for b.Loop() {
			if _, err := c.Put(b.Context(), "/bench/put/a/b", "0123456789abcdef"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("put-100", func(b *testing.B) {
		c := bareClient(b, server)
		for b.Loop() {
			var ops []clientv3.Op
			for i := range 100 {
				ops = append(ops, clientv3.OpPut(fmt.Sprintf("/bench/put-100/a/%d", i), "0123456789abcdef"))
			}
			if _, err := c.Txn(b.Context()).Then(ops...).Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		const count = 10_000
		c := bareClient(b, server)
		for i := range count {
			if _, err := c.Put(b.Context(), fmt.Sprintf("/bench/list/l/%06d", i), "0123456789abcdef"); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			read, err := c.Get(b.Context(), "/bench/list/l/", clientv3.WithPrefix())
			if err != nil || len(read.Kvs) != count {
				b.Fatalf("%d keys, %v", len(read.Kvs), err)
			}
		}
	})
	b.Run("see", func(b *testing.B) {
		c, watcher := bareClient(b, server), bareClient(b, server)
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		seen := watcher.Watch(ctx, "/bench/see/", clientv3.WithPrefix())
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			begin := time.Now()
			if _, err := c.Put(b.Context(), "/bench/see/a/b", fmt.Sprint(i)); err != nil {
				b.Fatal(err)
			}
			<-seen
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
	})
}

// BenchmarkOverhead takes turns between the registry, the bare client, and the bare client
// with the same conditions as the registry's, so that a busy machine slows all alike. It
// reports the median of each. The row lock is a latch that nobody else wants, etcd's Mutex on
// the bare client, and the same Mutex in the registry's session.
func BenchmarkOverhead(b *testing.B) {
	b.Run("memory", func(b *testing.B) { overhead(b, etcdserver.Config{}) })
	b.Run("fsync", func(b *testing.B) { overhead(b, etcdserver.Config{Fsync: true}) })
}

func overhead(b *testing.B, config etcdserver.Config) {
	const count = 10_000
	server := etcdserver.Start(b, config)
	bare := bareClient(b, server)
	link, err := proxy.New(server.Endpoints()[0])
	if err != nil {
		b.Fatal(err)
	}
	defer link.Close()
	r, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{link.Addr()}, Namespace: "bench", SessionTimeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close(context.Background())

	const value = "0123456789abcdef"
	puts := func(from, count int) (ops []coord.Op, bareOps []clientv3.Op) {
		for i := range count {
			path := fmt.Sprintf("l/%06d", from+i)
			ops = append(ops, coord.Put(path, []byte(value)))
			bareOps = append(bareOps, clientv3.OpPut("/bare/"+path, value))
		}
		return ops, bareOps
	}
	ctx := b.Context()
	commit := func(ops []coord.Op) func() error {
		return func() error { _, err := r.Commit(ctx, ops...); return err }
	}
	txn := func(ops []clientv3.Op) func() error {
		return func() error { _, err := bare.Txn(ctx).Then(ops...).Commit(); return err }
	}
	for from := 0; from < count; from += 100 {
		ops, bareOps := puts(from, 100)
		if err := commit(ops)(); err != nil {
			b.Fatal(err)
		}
		if err := txn(bareOps)(); err != nil {
			b.Fatal(err)
		}
	}
	other := bareClient(b, server) // so that none finds its connection still warm
	conditional := func(ops []clientv3.Op) func() error {
		var conditions []clientv3.Cmp
		for _, op := range ops {
			conditions = append(conditions, clientv3.Compare(clientv3.LeaseValue(string(op.KeyBytes())), "=", 0))
		}
		return func() error { _, err := other.Txn(ctx).If(conditions...).Then(ops...).Commit(); return err }
	}
	latch, err := r.Latch("latch")
	if err != nil {
		b.Fatal(err)
	}
	session, err := r.Concurrency(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	bareSession, err := concurrency.NewSession(bare)
	if err != nil {
		b.Fatal(err)
	}
	defer bareSession.Close()
	lock := func(m *concurrency.Mutex) func() error {
		return func() error {
			if err := m.Lock(ctx); err != nil {
				return err
			}
			return m.Unlock(ctx)
		}
	}
	one, bareOne := puts(0, 1)
	hundred, bareHundred := puts(0, 100)
	const columns = "registry-us bare-us "
	for _, c := range []struct {
		name    string
		columns string
		do      []func() error
	}{
		{"put", columns + "bare-conditional-us", []func() error{commit(one), func() error { _, err := bare.Put(ctx, "/bare/l/000000", value); return err }, conditional(bareOne)}},
		{"put-100", columns + "bare-conditional-us", []func() error{commit(hundred), txn(bareHundred), conditional(bareHundred)}},
		{"get", columns, []func() error{
			func() error { _, err := r.Get(ctx, "l/000000"); return err },
			func() error { _, err := bare.Get(ctx, "/bare/l/000000"); return err },
		}},
		{"list", columns + "bare-in-two-pages-us", []func() error{
			func() error { _, err := r.List(ctx, "l"); return err },
			func() error { _, err := bare.Get(ctx, "/bare/l/", clientv3.WithPrefix()); return err },
			func() error {
				first, err := bare.Get(ctx, "/bare/l/", clientv3.WithPrefix(), clientv3.WithLimit(256))
				if err != nil {
					return err
				}
				last := string(first.Kvs[len(first.Kvs)-1].Key)
				_, err = bare.Get(ctx, last+"\x00", clientv3.WithRange(clientv3.GetPrefixRangeEnd("/bare/l/")), clientv3.WithRev(first.Header.Revision))
				return err
			},
		}},
		{"lock", columns + "registry-mutex-us", []func() error{
			func() error {
				held, err := latch.Acquire(ctx)
				if err != nil {
					return err
				}
				return held.Release(ctx)
			},
			lock(concurrency.NewMutex(bareSession, "/bare/mutex")),
			lock(concurrency.NewMutex(session, "/mutex")),
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			took := make([][]time.Duration, len(c.do))
			for b.Loop() {
				for i, do := range c.do {
					begin := time.Now()
					if err := do(); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(begin))
				}
			}
			for i, column := range strings.Fields(c.columns) {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][len(took[i])/2].Nanoseconds())/1e3, column)
			}
			b.ReportMetric(0, "ns/op") // of all together
		})
	}
}

func bareClient(b *testing.B, server *etcdserver.Server) *clientv3.Client {
	b.Helper()
	link, err := proxy.New(server.Endpoints()[0])
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(link.Close)
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{link.Addr()}, Logger: zap.NewNop()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

// BenchmarkSync is what it costs to be sure of one of many views, while nobody writes,
// and while somebody writes elsewhere.
func BenchmarkSync(b *testing.B) {
	for _, views := range []int{10, 1000} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("views=%d/busy=%v", views, busy), func(b *testing.B) {
				server := etcdserver.Start(b, etcdserver.Config{})
				r, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "bench", SessionTimeout: time.Minute})
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close(context.Background())
				var last coord.View
				for i := range views {
					if last, err = r.View(b.Context(), fmt.Sprintf("jobs/%d", i), coord.AllLevels); err != nil {
						b.Fatal(err)
					}
				}
				for i := 0; b.Loop(); i++ {
					if busy {
						if _, err := r.Commit(b.Context(), coord.Put("elsewhere", nil)); err != nil {
							b.Fatal(err)
						}
					}
					if err := last.Sync(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
