package job_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// jvmID is the id of a JVM member.
const jvmID = "10.9.9.9@-@1"

// jvmJoins registers a JVM member, by hand. Its server is disabled, so it gets no items.
func (c *cluster) jvmJoins() {
	c.Helper()
	c.commit(
		coord.Put(c.job.Server("10.9.9.9"), []byte(jobtree.Disabled)),
		coord.CreateEphemeral(c.job.Instance(jvmID), []byte("jobInstanceId: "+jvmID+"\nserverIp: 10.9.9.9\n")),
	)
}

// jvmLatches lets the JVM member take over an item, as long as the test likes.
func (c *cluster) jvmLatches() coord.Held {
	c.Helper()
	latch, err := c.admin.Latch(c.job.FailoverLatch())
	c.must(err)
	held, err := latch.Acquire(c.Context())
	c.must(err)
	return held
}

// release ends what jvmLatches has begun.
func (c *cluster) release(held coord.Held) {
	c.Helper()
	c.must(held.Release(c.Context()))
}

// queue lists the nodes of those that wait to take over an item, or do.
func (c *cluster) queue() []string {
	c.Helper()
	c.sync()
	var paths []string
	for n := range c.view.Snapshot().All(c.job.FailoverLatch()) {
		if n.Path != c.job.FailoverLatch() {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// awaitQueue waits until so many stand in the queue.
func (c *cluster) awaitQueue(n int) {
	c.Helper()
	c.until("the queue of those that take over", func() bool { return len(c.queue()) == n })
}

// beside lets a test begin with a member of ours beside a JVM member that is taking over something, and
// an item that waits.
func beside(t *testing.T, behaviour func(c *cluster, m *member, jvm coord.Held)) {
	t.Helper()
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.jvmJoins()
		jvm := c.jvmLatches()
		c.commit(coord.Put(c.job.FailoverItem(1), nil))
		c.awaitQueue(2)
		behaviour(c, m, jvm)
	})
}

// Beside JVM members items are taken over by one process at a time.
func TestTakeOverWaitsForAJVM(t *testing.T) {
	beside(t, func(c *cluster, _ *member, jvm coord.Held) {
		c.pass(10 * time.Second)
		if runs := c.record.find(anything); len(runs) > 0 {
			t.Fatalf("a JVM member is taking over, and we run %v", runs)
		}
		c.release(jvm)
		c.awaitRuns("it is taken over", 1, reruns)
		c.settled()
		c.awaitQueue(0)
		// What comes later is queued for anew.
		jvm = c.jvmLatches()
		c.commit(coord.Put(c.job.FailoverItem(2), nil))
		c.awaitQueue(2)
		c.release(jvm)
		c.awaitRuns("the next one is taken over", 2, reruns)
		c.settled()
		c.awaitQueue(0)
		if runs := c.record.find(anything); len(runs) != 2 {
			t.Errorf("got %v", runs)
		}
		c.check()
	})
}

// A JVM member that has taken the item meanwhile keeps it.
func TestTakeOverSeesWhatAJVMHasTaken(t *testing.T) {
	beside(t, func(c *cluster, _ *member, jvm coord.Held) {
		c.commit(
			coord.DeleteTree(c.job.FailoverItem(1)), coord.Put(c.job.Failovering(1), []byte(jvmID)),
			coord.CreateEphemeral(c.job.Failover(1), []byte(jvmID)),
		)
		c.release(jvm)
		c.awaitQueue(0)
		c.pass(5 * time.Second)
		if runs := c.record.find(anything); len(runs) > 0 {
			t.Errorf("got %v", runs)
		}
	})
}

// JVM members put up what was cut short item by item. Nobody takes one over before they are through, but
// not for ever.
func TestTakeOverWaitsForAllItems(t *testing.T) {
	for name, tc := range map[string]struct {
		every       time.Duration
		n           int
		least, most time.Duration // after the first one was put up
	}{
		"one":                   {0, 1, 500 * time.Millisecond, time.Second},
		"three":                 {400 * time.Millisecond, 3, 1300 * time.Millisecond, 1800 * time.Millisecond},
		"there is no end to it": {400 * time.Millisecond, 12, 3 * time.Second, 3500 * time.Millisecond},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount = rarely, 12
			c.join("10.0.0.1", cfg, nil)
			c.await("items are assigned", func(s *jobtree.State) bool { return len(owners(s, 12)["10.0.0.1"]) == 12 })
			c.jvmJoins()
			c.pass(time.Second)
			begun := time.Now()
			for i := range tc.n {
				c.commit(coord.Put(c.job.FailoverItem(i), nil))
				c.pass(tc.every)
			}
			runs := c.awaitRuns("they are taken over", tc.n, reruns)
			first := slices.MinFunc(runs, func(a, b execution) int { return a.begin.Compare(b.begin) }).begin
			if after := first.Sub(begun); after < tc.least || after > tc.most {
				t.Errorf("the first one is run again after %v, want %v to %v", after, tc.least, tc.most)
			}
			c.settled()
			c.awaitQueue(0)
			c.check()
		})
	}
}

// Whoever has no reason to queue any more, or ends, leaves nothing behind.
func TestTheQueueIsLeft(t *testing.T) {
	over := func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx
	}()
	for name, tc := range map[string]struct {
		happens func(c *cluster, m *member)
		runs    int  // again, in the end
		again   bool // it queues again
	}{
		"somebody removes the item": {func(c *cluster, _ *member) { c.commit(coord.DeleteTree(c.job.FailoverItem(1))) }, 0, false},
		"the item is disabled":      {func(c *cluster, _ *member) { c.commit(coord.Put(c.job.ItemDisabled(1), nil)) }, 0, false},
		"its server is disabled":    {func(c *cluster, _ *member) { c.commit(coord.Put(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled))) }, 0, false},
		"failover is switched off":  {func(c *cluster, _ *member) { c.configure(func(cfg *job.Config) { cfg.Failover = false }) }, 0, false},
		"it leaves":                 {func(_ *cluster, m *member) { m.leave() }, 0, false},
		"it is shut down at once": {func(c *cluster, m *member) {
			if err := m.Shutdown(over); err != nil {
				c.Errorf("shutdown: %v", err)
			}
		}, 0, false},
		"the JVM member has gone":         {func(c *cluster, _ *member) { c.commit(coord.Delete(c.job.Instance(jvmID))) }, 1, false},
		"a stranger removes its place":    {func(c *cluster, _ *member) { c.commit(coord.DeleteTree(c.queue()[1])) }, 1, true},
		"an operator removes it":          {func(c *cluster, m *member) { c.commit(coord.Delete(c.job.Instance(m.Status().InstanceID))) }, 0, false},
		"a stranger removes its identity": {func(c *cluster, m *member) { c.commit(coord.Delete(c.job.Session(m.Status().InstanceID))) }, 1, true},
		"its session ends": {func(c *cluster, m *member) {
			m.link.BlackHole()
			c.awaitQueue(1)
			m.link.Heal()
		}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			beside(t, func(c *cluster, m *member, jvm coord.Held) {
				place := c.queue()[1]
				tc.happens(c, m)
				c.until("its place has gone", func() bool { return !slices.Contains(c.queue(), place) })
				if tc.again {
					c.awaitQueue(2)
				} else {
					c.pass(5 * time.Second)
					c.awaitQueue(1)
				}
				c.release(jvm)
				c.awaitRuns("what it takes over", tc.runs, reruns)
				c.pass(5 * time.Second)
				c.awaitQueue(0)
				if runs := c.record.find(anything); len(runs) != tc.runs {
					t.Errorf("%d runs, want %d: %v", len(runs), tc.runs, runs)
				}
				c.check()
			})
		})
	}
}

// JVM members take the end of instances/{id} for a crash of all that runs there. So it stays until nothing
// does, and others get the items that are idle.
func TestAnInstanceThatLeavesBesideAJVM(t *testing.T) {
	for name, tc := range map[string]struct {
		isMixed bool
	}{"beside a JVM member": {true}, "without": {false}} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount = rarely, 4
			release := make(chan struct{})
			m := c.join("10.0.0.1", cfg, hangs(release, item0))
			n := c.join("10.0.0.2", cfg, hangs(release, item0))
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}, "10.0.0.2": {2, 3}})
			other := "10.0.0.2"
			if tc.isMixed {
				c.jvmJoins()
				c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1}, "10.0.0.1": {2, 3}}) // descending
				m, other = n, "10.0.0.1"
			}
			owner := m.Status().InstanceID
			c.trigger(m, 0)
			c.awaitRuns("item 0", 1, of(0))
			left := make(chan error)
			go func() { left <- m.Shutdown(context.Background()) }()
			c.pass(30 * time.Second)
			c.sync()
			s := c.state()
			_, isThere := s.Instances[owner]
			if isThere != tc.isMixed || s.Session(owner).Leaving != tc.isMixed {
				t.Errorf("its instance is there: %v; it says that it leaves: %v\n%s", isThere, s.Session(owner).Leaving, c.dump())
			}
			if got := owners(s, 4)[other]; len(got) != 3 {
				t.Errorf("the other one has the items %v\n%s", got, c.dump())
			}
			close(release)
			if err := <-left; err != nil {
				t.Errorf("shutdown: %v", err)
			}
			c.await("all its nodes have gone", func(s *jobtree.State) bool { return s.Sessions[owner] == nil && s.Instances[owner].Owner == 0 })
			c.pass(5 * time.Second)
			if runs := c.record.find(anything); len(runs) != 1 || runs[0].err != nil {
				t.Errorf("got %v", runs)
			}
			c.check()
		})
	}
}
