package coordtest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Benchmark measures what the adapters have in common, on a store of the factory. An adapter
// measures the same with its client library alone, under the same names.
//
//	put        one commit of one put after another
//	put-100    one commit of 100 puts after another
//	list       List of 10,000 nodes
//	walk       Walk of 10,000 nodes
//	jobs       View of the 10,000 children of a namespace with 20 nodes below each:
//	           the time until it is open, and its memory, bytes/child
//	see        from a commit until a view in another registry shows it: p50-ms, p99-ms
//	view-bytes memory of a view of 100,000 nodes of 16 bytes: bytes/node
func Benchmark(b *testing.B, f Factory) {
	store := f(b)
	b.Run("put", func(b *testing.B) { benchmarkPuts(b, store, 1) })
	b.Run("put-100", func(b *testing.B) { benchmarkPuts(b, store, 100) })
	b.Run("list", func(b *testing.B) { benchmarkList(b, store) })
	b.Run("walk", func(b *testing.B) { benchmarkWalk(b, store) })
	b.Run("jobs", func(b *testing.B) { benchmarkJobs(b, store) })
	b.Run("see", func(b *testing.B) { benchmarkSee(b, store) })
	b.Run("view-bytes", func(b *testing.B) { benchmarkViewBytes(b, store) })
}

// BenchmarkCommits measures what one registry commits for many callers. Each claims an item
// and finishes it, again and again, as a job does. One operation is one commit. Beside
// commits/s it reports how long a commit takes: p50-ms and p99-ms. open opens a registry on a
// store of its own.
func BenchmarkCommits(b *testing.B, open func(*testing.B) coord.Registry) {
	for _, callers := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { benchmarkCommits(b, open(b), callers) })
	}
}

func benchmarkCommits(b *testing.B, r coord.Registry, callers int) {
	benchCommit(b, r, coord.CreateEphemeral("me", nil))
	items := make([]string, callers)
	for i := range items {
		items[i] = fmt.Sprintf("jobs/job-%d/sharding/0", i)
		benchCommit(b, r, coord.Put(items[i]+"/instance", []byte("me")), coord.Put(items[i]+"/fired", nil))
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, callers)
	var running sync.WaitGroup
	b.ResetTimer()
	for i, item := range items {
		running.Go(func() {
			timed := func(ops ...coord.Op) {
				begin := time.Now()
				if _, err := r.Commit(b.Context(), ops...); err != nil {
					b.Error(err)
				}
				took[i] = append(took[i], time.Since(begin))
			}
			for left.Add(-2) > -2 {
				timed(coord.Exists("me"), coord.Exists(item+"/instance"),
					coord.Create(item+"/running", []byte("me")), coord.Set(item+"/fired", []byte("0123456789abcdef")))
				timed(coord.Exists("me"), coord.Delete(item+"/running"))
			}
		})
	}
	running.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "commits/s")
	reportPercentiles(b, all)
}

func reportPercentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
}

func benchDial(b *testing.B, store Store) coord.Registry {
	b.Helper()
	// The testing package calls a benchmark function several times; each call has a
	// namespace of its own.
	namespace := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	return benchDialAt(b, store, namespace)
}

func benchDialAt(b *testing.B, store Store, namespace string) coord.Registry {
	b.Helper()
	r, _, err := store.Dial(b.Context(), Options{Namespace: namespace, SessionTimeout: longTimeout})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			b.Logf("close: %v", err)
		}
	})
	return r
}

func benchCommit(b *testing.B, r coord.Registry, ops ...coord.Op) {
	b.Helper()
	if _, err := r.Commit(b.Context(), ops...); err != nil {
		b.Fatal(err)
	}
}

// fill puts count nodes of 16 bytes below path, in chunks.
func fill(b *testing.B, r coord.Registry, path string, count int) {
	b.Helper()
	var ops []coord.Op
	for i := range count {
		ops = append(ops, coord.Put(fmt.Sprintf("%s/%06d", path, i), []byte("0123456789abcdef")))
		if len(ops) == 100 || i == count-1 {
			benchCommit(b, r, ops...)
			ops = ops[:0]
		}
	}
}

func benchmarkPuts(b *testing.B, store Store, count int) {
	r := benchDial(b, store)
	ops := make([]coord.Op, count)
	for i := range ops {
		ops[i] = coord.Put(fmt.Sprintf("a/%d", i), []byte("0123456789abcdef"))
	}
	benchCommit(b, r, ops...)
	for b.Loop() {
		benchCommit(b, r, ops...)
	}
}

func benchmarkList(b *testing.B, store Store) {
	const count = 10_000
	r := benchDial(b, store)
	fill(b, r, "l", count)
	for b.Loop() {
		nodes, err := r.List(b.Context(), "l")
		if err != nil || len(nodes) != count {
			b.Fatalf("%d nodes, %v", len(nodes), err)
		}
	}
}

func benchmarkWalk(b *testing.B, store Store) {
	const count = 10_000
	r := benchDial(b, store)
	fill(b, r, "l", count)
	for b.Loop() {
		seen := 0
		for _, err := range r.Walk(b.Context(), "l") {
			if err != nil {
				b.Fatal(err)
			}
			seen++
		}
		if seen < count {
			b.Fatalf("%d nodes", seen)
		}
	}
}

func benchmarkJobs(b *testing.B, store Store) {
	const jobs, each = 10_000, 20
	r := benchDial(b, store)
	for i := range jobs {
		fill(b, r, fmt.Sprintf("job-%d/items", i), each)
	}
	for b.Loop() {
		before := heap()
		begin := time.Now()
		v, err := r.View(b.Context(), "", 1)
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(begin)
		after := heap()
		if got := len(v.Snapshot().Children("")); got < jobs {
			b.Fatalf("the view has %d children", got)
		}
		b.ReportMetric(float64(took.Milliseconds()), "open-ms")
		b.ReportMetric((float64(after)-float64(before))/jobs, "bytes/child")
		v.Close()
	}
}

func benchmarkSee(b *testing.B, store Store) {
	namespace := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	r, s := benchDialAt(b, store, namespace), benchDialAt(b, store, namespace)
	v, err := s.View(b.Context(), "a", coord.AllLevels)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		value := fmt.Sprint(i)
		begin := time.Now()
		benchCommit(b, r, coord.Put("a/b", []byte(value)))
		for {
			changed := v.Changed()
			if n, _ := v.Snapshot().Get("a/b"); string(n.Value) == value {
				break
			}
			<-changed
		}
		took = append(took, time.Since(begin))
	}
	reportPercentiles(b, took)
}

func benchmarkViewBytes(b *testing.B, store Store) {
	const count = 100_000
	r := benchDial(b, store)
	fill(b, r, "v", count)
	for b.Loop() {
		before := heap()
		v, err := r.View(b.Context(), "v", coord.AllLevels)
		if err != nil {
			b.Fatal(err)
		}
		after := heap()
		if got := v.Snapshot().Len(); got < count {
			b.Fatalf("the view has %d nodes", got)
		}
		b.ReportMetric((float64(after)-float64(before))/count, "bytes/node")
		v.Close()
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // a second time, for what finalizers have released in the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
