package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// hangs is a handler that hangs on some items until it is released.
func hangs(release chan struct{}, on func(job.ShardingContext) bool) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		if !on(sc) {
			return nil
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Two handlers hang on both threads of an instance. Items that wait for a thread there are not
// claimed yet, so another instance that joins gets them and runs them.
func TestItemsThatWaitForAThreadGoToWhoeverJoins(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const total = 12
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Threads, cfg.Cron = total, 2, "0/3 * * * * ?"
		release := make(chan struct{})
		defer close(release)
		a := c.join("10.0.0.1", cfg, hangs(release, everyItem))
		c.awaitRuns("both threads", 2, anything)
		c.await("nothing but what runs is claimed", func(s *jobtree.State) bool {
			claimed := 0
			for i := range s.Items {
				if s.Items[i].Running != nil {
					claimed++
				}
			}
			return claimed == 2
		})
		cfg.Threads = 16
		c.join("10.0.0.2", cfg, nil)
		c.ownedBy("10.0.0.2", total, total/2)
		c.awaitRuns("what has waited, elsewhere", 6, on("10.0.0.2"))
		// When the first server is disabled, the second gets all items that do not run there.
		c.commit(coord.Set(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled)))
		c.await("it has all but those that hang", func(s *jobtree.State) bool { return len(owners(s, total)["10.0.0.2"]) >= total-2 })
		n := len(c.record.find(anything))
		c.awaitRuns("all of them", n+total-2, anything)
		if running := a.Status().Running; len(running) != 2 {
			t.Errorf("the first runs %v, want the two that hang", running)
		}
		c.check()
	})
}

// An item is on time but finds no thread, and no other instance can run it. It runs when a
// thread is free, although missed ticks are not made up for. Until then the fault says what it
// waits for, in Status, in the tree and once in the log.
func TestItemWaitsForAThread(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Threads, cfg.Misfire = "0 0 * * * ?", 1, job.Off
		release := make(chan struct{})
		logged, logs := newLogbook()
		a := c.join("10.0.0.1", cfg, hangs(release, everyItem), logs)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Hour)
		due := c.awaitRuns("one item", 1, anything)[0].ScheduledTime
		status := a.awaitFault(jobtype.FaultStarvation, "all 1 threads are busy, one of them with item")
		if waited := time.Since(due); waited > 10*time.Second {
			t.Errorf("it was said %v after the tick", waited)
		}
		if len(status.Waiting) != 2 || status.Waiting[0].Why == "" || status.Waiting[0].Since.IsZero() {
			t.Errorf("waiting are %+v, want two items, since when, and why", status.Waiting)
		}
		c.await("the tree has the fault", func(s *jobtree.State) bool {
			records, err := jobtree.DecodeFaults(s.Faults[status.InstanceID].Value)
			return err == nil && len(records) == 1 && records[0].Kind == "starvation" && records[0].Cause != "" && !records[0].Since.IsZero()
		})
		c.pass(30 * time.Minute)
		if n := logged.of(atFault, jobtype.FaultStarvation); n != 1 {
			t.Errorf("%d lines say that it began: %q", n, logged.messages())
		}
		close(release)
		for _, e := range c.awaitRuns("all items", 3, anything) {
			if !e.ScheduledTime.Equal(due) || e.Source != job.SourceNormal {
				t.Errorf("item %d: %v for %v, want the tick of %v", e.Item, e.Source, e.ScheduledTime, due)
			}
		}
		a.awaitSound()
		c.await("the tree has no fault any more", func(s *jobtree.State) bool { return len(s.Faults) == 0 })
		if n := logged.of(faultOver, jobtype.FaultStarvation); n != 1 {
			t.Errorf("%d lines say that it is over: %q", n, logged.messages())
		}
		c.check()
	})
}

// Runs that were cut short come before ticks that were missed: an instance whose threads are
// always busy runs such an item again with the first free thread.
func TestFailoversComeBeforeMakeUps(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Threads = 6, 2
		// Each execution takes longer than the time between two ticks. So another one follows
		// it, which makes up for the ticks that it has missed.
		slow := forAWhile(2500 * time.Millisecond)
		a := c.join("10.0.0.1", cfg, slow)
		c.join("10.0.0.2", cfg, slow)
		c.await("both have items", func(s *jobtree.State) bool {
			got := owners(s, 6)
			return len(got["10.0.0.1"]) == 3 && len(got["10.0.0.2"]) == 3
		})
		c.pass(20 * time.Second)
		c.awaitRuns("it is busy", 1, func(e execution) bool { return e.ip == "10.0.0.1" && e.end.IsZero() })
		cut := len(c.record.find(func(e execution) bool { return e.ip == "10.0.0.1" && e.end.IsZero() }))
		a.crash()
		c.await("they are put up", func(s *jobtree.State) bool { return len(s.FailoverItems) == cut })
		up := time.Now()
		for _, e := range c.awaitRuns("all of them again", cut, reruns) {
			if waited := e.begin.Sub(up); waited > 5*time.Second {
				t.Errorf("item %d waited %v to be run again\n%s", e.Item, waited, c.record)
			}
		}
		c.check()
	})
}
