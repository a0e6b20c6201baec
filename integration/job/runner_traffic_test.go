package job_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// What a runner asks the store for when jobs come, change, wait, expire and go. It asks for nothing while
// nothing happens to its own, also for jobs that have expired and stay, and tells its number of items every 5 s at most.
func TestWhatJobsOfARunnerCost(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		const many = 20
		var reg *counting
		c.wrap = func(inner coord.Registry) coord.Registry {
			reg = &counting{Registry: inner}
			return reg
		}
		c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		steer := ops.New(c.admin)
		begun := time.Now()
		each := func(do func(ctx context.Context, name string) error) {
			t := c.T
			t.Helper()
			for i := range many {
				c.must(do(t.Context(), fmt.Sprintf("job-%d", i)))
			}
		}
		// costs lets time pass, and compares what the runner has asked for with what it may at most.
		costs := func(what string, lasts time.Duration, commits, others int) {
			c.T.Helper()
			c.pass(lasts)
			synctest.Wait()
			gotCommits, gotOthers := reg.take()
			if len(gotCommits) > commits || len(gotOthers) > others {
				c.T.Errorf("%s: %d commits and %d other requests, at most %d and %d are right: %v, %v", what, len(gotCommits), len(gotOthers), commits, others, gotCommits, gotOthers)
			}
		}
		costs("a runner without jobs", 20*time.Second, 1, 0)
		each(func(ctx context.Context, name string) error {
			cfg := job.Config{Name: name, Cron: rarely, ShardingTotalCount: 1, ReconcileInterval: -1, Expiry: job.Expiry{At: begun.Add(3 * time.Hour)}}
			return steer.Create(ctx, ops.CreateRequest{Config: cfg, Implementation: "work"})
		})
		costs("jobs come", 20*time.Second, many+2, 0)
		for range 2 {
			each(func(_ context.Context, name string) error {
				c.create("java-"+name, "org.example.Job", cron(rarely))
				c.commit(coord.Put("java-"+name+"/schedule", nil), coord.Put("java-"+name+"/servers/10.0.0.9", nil))
				return nil
			})
		}
		costs("jobs of others come and change", 20*time.Second, 0, 0)
		costs("jobs wait", time.Hour, 0, 0)
		costs("jobs expire, and stay", 12*time.Hour, 0, 0)
		each(func(ctx context.Context, name string) error {
			there, err := steer.Job(name).Settings(ctx)
			if err != nil {
				return err
			}
			there.Config.Expiry.Remove = true
			return steer.Job(name).Update(ctx, ops.UpdateRequest{Config: there.Config, Version: there.Version})
		})
		// Each follows its configuration, goes, finds that it is gone, and deregisters.
		costs("they go", time.Hour, 3*many+2, 2*many+2)
		costs("a runner whose jobs are gone", time.Hour, 0, 0)
	})
}
