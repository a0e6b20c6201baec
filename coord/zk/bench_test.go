package zk_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// BenchmarkRegistry and BenchmarkBareClient measure the same, through the same proxy.

func BenchmarkRegistry(b *testing.B) {
	coordtest.Benchmark(b, func(t testing.TB) coordtest.Store { return newStore(t, zkserver.Config{}) })
}

// BenchmarkCommits has a server that writes to its disk.
func BenchmarkCommits(b *testing.B) {
	coordtest.BenchmarkCommits(b, func(b *testing.B) coord.Registry {
		server := zkserver.Start(b, zkserver.Config{Fsync: true})
		r, err := zk.Dial(b.Context(), zk.Config{Servers: []string{server.Addr()}, Namespace: "bench", SessionTimeout: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = r.Close(context.Background()) }) // how it ends is not the question
		return r
	})
}

func BenchmarkBareClient(b *testing.B) {
	server := zkserver.Start(b, zkserver.Config{})
	b.Run("put", func(b *testing.B) { bareSet(b, server) })
	b.Run("put-100", func(b *testing.B) { bareSet100(b, server) })
	b.Run("list", func(b *testing.B) { bareList(b, server) })
	b.Run("see", func(b *testing.B) { bareSee(b, server) })
	b.Run("view-bytes", func(b *testing.B) { bareWatches(b, server) })
}

// bare is the client library alone; any error ends the benchmark.
type bare struct {
	*zookeeper.Conn
	b *testing.B
}

func benchBare(b *testing.B, server *zkserver.Server) bare {
	b.Helper()
	return bare{dialBare(b, newLink(b, server).Addr(), ""), b}
}

var sixteenBytes = []byte("0123456789abcdef")

func (c bare) ensure(path string) {
	c.b.Helper()
	_, err := c.Create(path, sixteenBytes, 0, zookeeper.WorldACL(zookeeper.PermAll))
	if err != nil && !errors.Is(err, zookeeper.ErrNodeExists) {
		c.b.Fatal(err)
	}
}

// fill makes count nodes below a new node, and returns that.
func (c bare) fill(count int) string {
	c.b.Helper()
	root := fmt.Sprintf("/bare-%d", time.Now().UnixNano())
	c.ensure(root)
	for chunk := range slices.Chunk(slices.Collect(func(yield func(int) bool) {
		for i := range count {
			if !yield(i) {
				return
			}
		}
	}), 100) {
		var ops []any
		for _, i := range chunk {
			ops = append(ops, &zookeeper.CreateRequest{Path: fmt.Sprintf("%s/%06d", root, i), Data: sixteenBytes, Acl: zookeeper.WorldACL(zookeeper.PermAll)})
		}
		if _, err := c.Multi(ops...); err != nil {
			c.b.Fatal(err)
		}
	}
	return root
}

func bareSet(b *testing.B, server *zkserver.Server) {
	c := benchBare(b, server)
	c.ensure("/put")
	for b.Loop() {
		if _, err := c.Set("/put", sixteenBytes, -1); err != nil {
			b.Fatal(err)
		}
	}
}

func bareSet100(b *testing.B, server *zkserver.Server) {
	c := benchBare(b, server)
	root := c.fill(100)
	ops := make([]any, 100)
	for i := range ops {
		ops[i] = &zookeeper.SetDataRequest{Path: fmt.Sprintf("%s/%06d", root, i), Data: sixteenBytes, Version: -1}
	}
	for b.Loop() {
		if _, err := c.Multi(ops...); err != nil {
			b.Fatal(err)
		}
	}
}

// parallel makes as many requests at once as the registry does.
func (c bare) parallel(names []string, workers int, request func(name string) error) {
	c.b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				if err := request(names[i]); err != nil {
					c.b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func bareList(b *testing.B, server *zkserver.Server) {
	c := benchBare(b, server)
	root := c.fill(10_000)
	for b.Loop() {
		if _, err := c.Sync(root); err != nil {
			b.Fatal(err)
		}
		names, _, err := c.Children(root)
		if err != nil {
			b.Fatal(err)
		}
		c.parallel(names, 32, func(name string) error {
			_, _, err := c.Get(root + "/" + name)
			return err
		})
	}
}

func bareSee(b *testing.B, server *zkserver.Server) {
	c, watcher := benchBare(b, server), benchBare(b, server)
	c.ensure("/see")
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		_, _, changed, err := watcher.GetW("/see")
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if _, err := c.Set("/see", fmt.Append(nil, i), -1); err != nil {
			b.Fatal(err)
		}
		<-changed
		if value, _, err := watcher.Get("/see"); err != nil || string(value) != fmt.Sprint(i) {
			b.Fatalf("%q, %v", value, err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
}

// bareWatches reads 100,000 nodes with the watches that a view needs, and keeps the
// values in a map.
func bareWatches(b *testing.B, server *zkserver.Server) {
	c := benchBare(b, server)
	root := c.fill(100_000)
	for b.Loop() {
		before := heapInUse()
		names, _, _, err := c.ChildrenW(root)
		if err != nil {
			b.Fatal(err)
		}
		var mu sync.Mutex
		values := make(map[string][]byte)
		c.parallel(names, 64, func(name string) error {
			value, _, _, err := c.GetW(root + "/" + name)
			if err != nil {
				return err
			}
			_, _, _, err = c.ChildrenW(root + "/" + name)
			mu.Lock()
			defer mu.Unlock()
			values[name] = value
			return err
		})
		b.ReportMetric((float64(heapInUse())-float64(before))/float64(len(values)), "bytes/node")
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkPutOverhead takes turns between the bare client and the registry, so that a busy
// machine slows both alike. It reports how much more a put of the registry costs: at a
// server that waits for its disk, as in production, and at one that does not.
func BenchmarkPutOverhead(b *testing.B) {
	b.Run("fsync", func(b *testing.B) { putOverhead(b, zkserver.Config{Fsync: true}) })
	b.Run("memory", func(b *testing.B) { putOverhead(b, zkserver.Config{}) })
}

func putOverhead(b *testing.B, cfg zkserver.Config) {
	s := newStore(b, cfg)
	c := benchBare(b, s.server)
	c.ensure("/put")
	r, _, err := s.Dial(b.Context(), coordtest.Options{Namespace: "overhead", SessionTimeout: 20 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close(b.Context())
	op := coord.Put("put", sixteenBytes)
	if _, err := r.Commit(b.Context(), op); err != nil {
		b.Fatal(err)
	}
	var took [2][]time.Duration
	for b.Loop() {
		begin := time.Now()
		_, err := c.Set("/put", sixteenBytes, -1)
		between := time.Now()
		if err == nil {
			_, err = r.Commit(b.Context(), op)
		}
		if err != nil {
			b.Fatal(err)
		}
		took[0] = append(took[0], between.Sub(begin))
		took[1] = append(took[1], time.Since(between))
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	bare, layered := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(bare.Nanoseconds())/1e3, "bare-p50-µs")
	b.ReportMetric(float64(layered.Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(100*float64(layered-bare)/float64(bare), "%")
}
