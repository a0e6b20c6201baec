package job_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// BenchmarkIdle measures what a job that does nothing holds: bytes on the heap, bytes of
// stacks, and goroutines. With memory, the registry's heap is the store, too.
func BenchmarkIdle(b *testing.B) {
	b.Run("memory", func(b *testing.B) {
		s := memory.NewStore(memory.Options{})
		defer s.Close()
		reg, err := s.Dial(b.Context(), memory.Config{Namespace: "idle"})
		if err != nil {
			b.Fatal(err)
		}
		defer closeRegistry(b, reg)
		holds(b, reg)
	})
	onRealStores(b, func(b *testing.B, s store) { holds(b, newBenchmarked(b, s).registry()) })
}

// holds reports what the registry and all its idle jobs hold, for each job.
func holds(b *testing.B, reg coord.Registry) {
	const jobs = 1000
	all := make([]*job.Scheduler, jobs)
	var sum held
	for n := 0; b.Loop(); n++ {
		before := holdsNow()
		spread(jobs, 64, func(i int) {
			cfg := job.Config{Name: fmt.Sprintf("job-%d-%d", n, i), Cron: rarely, ShardingTotalCount: 1}
			var err error
			all[i], err = job.Schedule(b.Context(), reg, cfg, job.HandlerFunc(untilDone), job.WithIP("10.0.0.1"))
			if err != nil {
				b.Error(err)
			}
		})
		if b.Failed() {
			b.FailNow()
		}
		sum.add(holdsNow(), before)
		spread(jobs, 64, func(i int) { shutdown(b, all[i]) })
		clear(all)
	}
	per := float64(b.N * jobs)
	b.ReportMetric(sum.heap/per, "heap-B/job")
	b.ReportMetric(sum.stack/per, "stack-B/job")
	b.ReportMetric(sum.goroutines/per, "goroutines/job")
}

// held is what the process holds.
type held struct{ heap, stack, goroutines float64 }

func (h *held) add(after, before held) {
	h.heap += after.heap - before.heap
	h.stack += after.stack - before.stack
	h.goroutines += after.goroutines - before.goroutines
}

// holdsNow collects garbage twice: what a sync.Pool has is freed by the second time.
func holdsNow() held {
	var m runtime.MemStats
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return held{float64(m.HeapAlloc), float64(m.StackInuse), float64(runtime.NumGoroutine())}
}
