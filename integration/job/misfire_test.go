package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// longItem is a job whose item 0 runs long, and the others short.
func longItem(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		if sc.Item == 0 {
			return elapse(ctx, d)
		}
		return nil
	}
}

func TestLongItemIsMadeUpAndDelaysNobody(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const long = 4500 * time.Millisecond
		c.join("10.0.0.1", c.config(), longItem(long))
		c.await("misfire is flagged while it runs", func(s *jobtree.State) bool {
			return s.Item(0).Misfire && s.Item(0).Running != nil
		})
		runs := c.awaitRuns("item 0 again", 2, of(0))
		c.check()
		first, again := runs[0], runs[1]
		if again.Source != job.SourceMisfire {
			t.Errorf("the second run is %v, want MISFIRE\n%s", again.Source, c.record)
		}
		if late := again.begin.Sub(first.end); late > time.Second {
			t.Errorf("it was made up %v after the first ended\n%s", late, c.record)
		}
		if due := again.ScheduledTime; due.After(again.begin) || again.begin.Sub(due) > 2*time.Second {
			t.Errorf("it is for the tick %v, begun at %v: not the last one missed", due, again.begin)
		}
		for _, item := range []int{1, 2} {
			short := c.record.find(func(e execution) bool { return e.Item == item && e.begin.Before(first.end) })
			if len(short) < 4 {
				t.Errorf("item %d ran %d times in %v beside the long one\n%s", item, len(short), long, c.record)
			}
			for _, e := range short {
				if e.Source != job.SourceNormal {
					t.Errorf("item %d waited: %v\n%s", item, e.Source, c.record)
				}
			}
		}
	})
}

func TestNewJobMakesUpNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = "0 0 0 1 * ?" // its last tick was long ago
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		// After a change of the schedule nobody makes up for earlier ticks of the new one.
		c.configure(func(cfg *job.Config) { cfg.Cron = "0 0 12 * * ?" })
		c.await("the new schedule in force", func(s *jobtree.State) bool { return s.Schedule != nil && s.Schedule.Cron == "0 0 12 * * ?" })
		changed := time.Now()
		c.configure(func(cfg *job.Config) { cfg.Cron = "* * * * * ?" })
		for _, e := range c.awaitRuns("ticks of the last schedule", 3, anything) {
			if e.Source != job.SourceNormal || e.ScheduledTime.Before(changed.Add(-time.Second)) {
				t.Errorf("%v for %v", e.Source, e.ScheduledTime)
			}
		}
		c.check()
	})
}
