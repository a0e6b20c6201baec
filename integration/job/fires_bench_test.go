package job_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// BenchmarkFires measures what one execution costs this process, store apart: many jobs of
// one item that fire each second, in a store in memory. One turn is as many executions as there
// are jobs.
func BenchmarkFires(b *testing.B) {
	for _, jobs := range []int{1000, 5000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			reg, err := memory.NewStore(memory.Options{}).Dial(b.Context(), memory.Config{Namespace: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { closeRegistry(b, reg) })
			var ran, late atomic.Int64
			rounds := make(chan struct{}, 1)
			nothing := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
				late.Add(int64(time.Since(sc.ScheduledTime)))
				if ran.Add(1)%int64(jobs) == 0 {
					select {
					case rounds <- struct{}{}:
					default: // nobody waits while the jobs start
					}
				}
				return nil
			})
			var schedulers []*job.Scheduler
			for i := range jobs {
				s, err := job.Schedule(b.Context(), reg, job.Config{Name: fmt.Sprintf("job-%d", i), Cron: "* * * * * ?", ShardingTotalCount: 1}, nothing)
				if err != nil {
					b.Fatal(err)
				}
				schedulers = append(schedulers, s)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ran.Store(0)
			late.Store(0)
			cpu := cpuTime(b)
			for b.Loop() {
				<-rounds
			}
			cpu = cpuTime(b) - cpu
			runtime.ReadMemStats(&after)
			n := float64(ran.Load())
			b.ReportMetric(float64(cpu.Microseconds())/n, "µs-cpu/fire")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/fire")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/fire")
			b.ReportMetric(float64(late.Load())/n/1e6, "ms-late")
			b.ReportMetric(n/float64(b.N)/float64(jobs), "fires/job/s")
			shutdown(b, schedulers...)
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
