package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// onRealStores runs a benchmark on etcd and on ZooKeeper.
func onRealStores(b *testing.B, bench func(*testing.B, store)) {
	b.Run("etcd", func(b *testing.B) { bench(b, etcdStore(b)) })
	b.Run("zookeeper", func(b *testing.B) { bench(b, zookeeperStore(b)) })
}

// benchmarked is a job, and a view of its tree for the benchmark.
type benchmarked struct {
	*testing.B
	store     store
	namespace string
	view      coord.View
	job       jobtree.Job
}

func newBenchmarked(b *testing.B, s store) *benchmarked {
	namespace := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	reg, _ := s.dial(b, namespace, 10*time.Second)
	b.Cleanup(func() { closeRegistry(b, reg) })
	view, err := reg.View(b.Context(), "settle", coord.AllLevels)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(view.Close)
	return &benchmarked{b, s, namespace, view, "settle"}
}

func (b *benchmarked) registry() coord.Registry {
	reg, _ := b.store.dial(b, b.namespace, 10*time.Second)
	b.Cleanup(func() { closeRegistry(b, reg) })
	return reg
}

func (b *benchmarked) schedule(reg coord.Registry, cfg job.Config, ip string, h job.HandlerFunc) *job.Scheduler {
	s, err := job.Schedule(b.Context(), reg, cfg, h, job.WithIP(ip))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (b *benchmarked) await(ok func(*jobtree.State) bool) {
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	for {
		changed := b.view.Changed()
		if ok(jobtree.Read(b.view.Snapshot(), b.job)) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.Fatal(context.Cause(ctx))
		}
	}
}

func shutdown(b *testing.B, schedulers ...*job.Scheduler) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, s := range schedulers {
		if err := s.Shutdown(ctx); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkJoin measures the time from the moment at which a third instance is in the tree
// until all items have their new owners.
func BenchmarkJoin(b *testing.B) {
	for _, total := range []int{30, 1000} {
		b.Run(fmt.Sprint(total), func(b *testing.B) {
			onRealStores(b, func(b *testing.B, s store) {
				j := newBenchmarked(b, s)
				cfg := job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: total}
				nothing := func(context.Context, job.ShardingContext) error { return nil }
				first, second, third := j.registry(), j.registry(), j.registry()
				stay := []*job.Scheduler{j.schedule(first, cfg, "10.0.0.1", nothing), j.schedule(second, cfg, "10.0.0.2", nothing)}
				dealt := func(n int) func(*jobtree.State) bool {
					return func(s *jobtree.State) bool {
						got := owners(s, total)
						return len(s.Instances) == n && len(got) == n && len(got[""]) == 0
					}
				}
				j.await(dealt(2))
				var took time.Duration
				for b.Loop() {
					joined := make(chan *job.Scheduler, 1)
					go func() { joined <- j.schedule(third, cfg, "10.0.0.3", nothing) }()
					j.await(func(s *jobtree.State) bool { return len(s.Instances) == 3 })
					seen := time.Now()
					j.await(dealt(3))
					took += time.Since(seen)
					shutdown(b, <-joined)
					j.await(dealt(2))
				}
				b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms/assigned")
				shutdown(b, stay...)
			})
		})
	}
}

// BenchmarkFire measures how late the first and the last of 100 items begin after their
// tick, on one instance.
func BenchmarkFire(b *testing.B) {
	onRealStores(b, func(b *testing.B, s store) {
		const total = 100
		j := newBenchmarked(b, s)
		late := make(chan time.Duration, total)
		stay := j.schedule(j.registry(), job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: total, Threads: total}, "10.0.0.1",
			func(_ context.Context, sc job.ShardingContext) error {
				late <- time.Since(sc.ScheduledTime)
				return nil
			})
		var first, last time.Duration
		for b.Loop() {
			low, high := time.Hour, time.Duration(0)
			for range total {
				d := <-late
				low, high = min(low, d), max(high, d)
			}
			first, last = first+low, last+high
		}
		b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "ms-late/first")
		b.ReportMetric(float64(last.Microseconds())/1000/float64(b.N), "ms-late/last")
		go func() {
			for range late {
			}
		}()
		shutdown(b, stay)
		close(late)
	})
}

// BenchmarkStart measures how long one process takes to start 500 new jobs and to shut them
// down: one after the other, and 64 at a time.
func BenchmarkStart(b *testing.B) {
	for _, workers := range []int{1, 64} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			onRealStores(b, func(b *testing.B, s store) {
				const jobs = 500
				j := newBenchmarked(b, s)
				reg := j.registry()
				all := make([]*job.Scheduler, jobs)
				var up, down time.Duration
				for n := 0; b.Loop(); n++ {
					began := time.Now()
					spread(jobs, workers, func(i int) {
						cfg := job.Config{Name: fmt.Sprintf("job-%d-%d", n, i), Cron: rarely, ShardingTotalCount: 1}
						var err error
						all[i], err = job.Schedule(b.Context(), reg, cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), job.WithIP("10.0.0.1"))
						if err != nil {
							b.Error(err)
						}
					})
					if b.Failed() {
						b.FailNow()
					}
					started := time.Now()
					spread(jobs, workers, func(i int) { shutdown(b, all[i]) })
					up, down = up+started.Sub(began), down+time.Since(started)
				}
				b.ReportMetric(float64(up.Microseconds())/1000/float64(b.N), "ms/start")
				b.ReportMetric(float64(down.Microseconds())/1000/float64(b.N), "ms/shutdown")
			})
		})
	}
}

// spread calls do for each number below n, by that many workers.
func spread(n, workers int, do func(int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}
