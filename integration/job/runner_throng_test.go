package job_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// throng is a runner whose jobs come and go.
type throng struct {
	testing.TB
	*job.Runner
	ops *ops.Ops
}

// newThrong starts a runner. The jobs are created through a registry of its own.
func newThrong(t testing.TB, runs, creates coord.Registry) *throng {
	t.Helper()
	r, err := job.NewRunner(runs, job.RunnerConfig{
		NodeConfig: job.NodeConfig{Options: []job.Option{job.WithIP("10.0.0.1")}},
		Handlers:   map[string]job.Handler{"work": job.HandlerFunc(untilDone)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &throng{t, r, ops.New(creates)}
}

// await waits until the runner is as the test wants it.
func (t *throng) await(what string, ok func() bool) {
	t.Helper()
	for begun := time.Now(); !ok(); {
		if time.Since(begun) > 10*time.Minute {
			t.Fatalf("not seen: %s; %d jobs, %d refused", what, len(t.Jobs()), len(t.Refused()))
		}
		if err := elapse(context.Background(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// come creates so many jobs, and waits until the runner is registered in all.
func (t *throng) come(n int) {
	t.Helper()
	spread(n, 64, func(i int) {
		cfg := job.Config{Name: fmt.Sprintf("job-%d", i), Cron: rarely, ShardingTotalCount: 1}
		if err := t.ops.Create(context.Background(), ops.CreateRequest{Config: cfg, Implementation: "work"}); err != nil {
			t.Error(err)
		}
	})
	t.await("all have started, which is to be registered", func() bool { return len(t.Jobs()) == n })
}

// go away removes the jobs, and waits until the runner has forgotten them.
func (t *throng) leave(n int) {
	t.Helper()
	spread(n, 64, func(i int) {
		if err := t.ops.Job(fmt.Sprintf("job-%d", i)).Remove(context.Background(), ops.RemoveRequest{}); err != nil {
			t.Error(err)
		}
	})
	t.await("all are gone", func() bool { return len(t.Jobs()) == 0 })
}

// Hundreds of jobs come and go, and come again, and leave nothing in the process.
func TestRunnerOf500Jobs(t *testing.T) {
	const many = 500
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	var regs []coord.Registry
	for range 2 {
		reg, err := store.Dial(t.Context(), memory.Config{Namespace: "throng"})
		if err != nil {
			t.Fatal(err)
		}
		defer closeRegistry(t, reg)
		regs = append(regs, reg)
	}
	var first held
	t.Run("jobs", func(t *testing.T) {
		r := newThrong(t, regs[0], regs[1])
		for round := range 2 {
			begun := time.Now()
			r.come(many)
			came := time.Since(begun)
			full := holdsNow()
			r.leave(many)
			// What has ended may still be on its way out.
			r.await("as few goroutines as before", func() bool { return round == 0 || holdsNow().goroutines <= first.goroutines })
			empty := holdsNow()
			t.Logf("all came in %v and were gone after %v; %.1f MB and %v goroutines, then %.1f MB and %v", came, time.Since(begun), full.heap/1e6, full.goroutines, empty.heap/1e6, empty.goroutines)
			if round == 0 {
				first = empty
				continue
			}
			if more := empty.heap - first.heap; more > many*2000 {
				t.Errorf("in round %d %d jobs have left %.0f bytes each", round, many, more/many)
			}
		}
	})
}

// BenchmarkRunner measures how 5,000 jobs are created and removed through one runner, by 64
// callers: how long it takes until it is registered in all and until all are gone, what a job
// holds meanwhile, and what is left of it. With memory, the registry's heap is the store, too.
func BenchmarkRunner(b *testing.B) {
	const many = 5000
	measure := func(b *testing.B, s store) {
		n := newBenchmarked(b, s)
		r := newThrong(b, n.registry(), n.registry())
		r.come(10) // so that what all share is there
		r.leave(10)
		before := holdsNow()
		var full, empty held
		var came, gone time.Duration
		for b.Loop() {
			begun := time.Now()
			r.come(many)
			came += time.Since(begun)
			full.add(holdsNow(), before)
			begun = time.Now()
			r.leave(many)
			gone += time.Since(begun)
			now := holdsNow()
			empty.add(now, before)
			b.Logf("they have left %.1f MB and %v goroutines", (now.heap-before.heap)/1e6, now.goroutines-before.goroutines)
		}
		per := float64(b.N)
		b.ReportMetric(came.Seconds()/per, "s-to-come")
		b.ReportMetric(gone.Seconds()/per, "s-to-go")
		b.ReportMetric(full.heap/per/many, "heap-B/job")
		b.ReportMetric(full.stack/per/many, "stack-B/job")
		b.ReportMetric(full.goroutines/per/many, "goroutines/job")
		b.ReportMetric(empty.heap/1e3/per, "heap-kB-left")
		b.ReportMetric(empty.goroutines/per, "goroutines-left")
	}
	b.Run("memory", func(b *testing.B) { measure(b, newMemoryStore(b)) })
	onRealStores(b, measure)
}
