package etcd_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// BenchmarkRegistry and BenchmarkBareClient measure the same, over the same kind of
// server and link. Compare them within one run.
func BenchmarkRegistry(b *testing.B) { coordtest.Benchmark(b, newStore) }

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
