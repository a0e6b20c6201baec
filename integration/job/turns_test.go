package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Fires wait while a JVM leader assigns the items, but not for ever.
func TestFiresWaitForAJVMLeaderThatDeals(t *testing.T) {
	const jvm = "10.9.9.9@-@1"
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.dial("10.0.0.1")
		reg := &refusing{Registry: m.reg}
		m.reg = reg
		c.mustSchedule(m, c.config(), nil)
		c.awaitRuns("ticks", 3, anything)
		reg.refuses.Store(&refusal{writes(c.job.LeaderInstance()), func(int, coord.Op) error { return coord.ErrUnavailable }})
		c.commit(coord.Delete(c.job.LeaderInstance()))
		c.commit(
			coord.CreateEphemeral(c.job.Instance(jvm), []byte("jobInstanceId: "+jvm+"\nserverIp: 10.9.9.9\n")),
			coord.CreateEphemeral(c.job.LeaderInstance(), []byte(jvm)),
		)
		ran := func() int { return len(c.record.find(anything)) }
		before := ran()
		c.pass(3 * time.Second)
		if n := ran() - before; n < 6 {
			t.Errorf("%d executions in 3 s beside a leader that assigns nothing", n)
		}
		for _, tc := range []struct {
			deals time.Duration // for how long
			waits time.Duration // in which nothing fires
		}{{10 * time.Second, 10 * time.Second}, {40 * time.Second, 29 * time.Second}} {
			c.commit(coord.Put(c.job.Necessary(), nil))
			c.pass(100 * time.Millisecond) // what has begun may end
			before := ran()
			c.pass(tc.waits - 100*time.Millisecond)
			if n := ran() - before; n > 0 {
				t.Errorf("%d executions began while items were assigned", n)
			}
			c.pass(tc.deals - tc.waits)
			if n := ran() - before; n == 0 && tc.deals > tc.waits {
				t.Error("nothing began although the leader takes too long")
			}
			before = ran()
			c.commit(coord.DeleteTree(c.job.Necessary()))
			c.pass(2 * time.Second)
			if n := ran() - before; n < 3 {
				t.Errorf("%d executions in the 2 s after the items were assigned", n)
			}
		}
		c.check()
	})
}

// What waits for a thread of an instance whose server is disabled is given back at once.
func TestClaimsOfADisabledServerAreGivenBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Threads, cfg.Cron = 1, "0/5 * * * * ?"
		var hang atomic.Bool
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if hang.Load() && sc.Item == 1 {
				return untilDone(ctx, sc)
			}
			return elapse(ctx, 10*time.Millisecond)
		})
		c.awaitRuns("so that it knows how long they take", 6, func(e execution) bool { return !e.end.IsZero() })
		c.settled()
		hang.Store(true)
		running := func(s *jobtree.State) (n int) {
			for i := range s.Items {
				if s.Items[i].Running != nil {
					n++
				}
			}
			return n
		}
		c.await("item 2 waits for item 1, which hangs", func(s *jobtree.State) bool { return s.Item(0).Running == nil && running(s) == 2 })
		c.commit(coord.Put(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled)))
		c.pass(100 * time.Millisecond)
		c.sync()
		if n := running(c.state()); n != 1 {
			t.Errorf("%d items run or wait, want the one that runs\n%s", n, c.dump())
		}
		c.check()
	})
}

// The record of a run that is done may wait for the other runs of its claim. It does not
// while its instance leaves: another one may run the item.
func TestAnInstanceThatLeavesDoesNotLinger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		release, left := make(chan struct{}), make(chan struct{})
		m := c.join("10.0.0.1", cfg, hangs(release, item0), withLinger(time.Hour))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m)
		c.awaitRuns("those that end", 2, func(e execution) bool { return !e.end.IsZero() })
		c.pass(10 * time.Second)
		if s := c.state(); s.Item(1).Running == nil || s.Item(2).Running == nil {
			t.Errorf("their records did not wait:\n%s", c.dump())
		}
		go func() { defer close(left); m.leave() }()
		c.await("their records are gone", func(s *jobtree.State) bool {
			return s.Item(0).Running != nil && s.Item(1).Running == nil && s.Item(2).Running == nil
		})
		close(release)
		<-left
		c.check()
	})
}
