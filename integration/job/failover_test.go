package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// shortSession is for those who crash: tests wait for the end of their sessions. It may end before, on
// a machine that stands still, so all others have one that lasts.
const shortSession = 2 * time.Second

// rarely is a schedule whose next tick comes after every test, so that items run only if they
// are triggered.
const rarely = "0 0 0 1 1 ?"

// cutShort is a cluster whose items are triggered, and run until the test lets them return or
// their contexts end.
type cutShort struct {
	*cluster
	release chan struct{}
}

func newCutShort(t *testing.T, s store) *cutShort {
	c := &cutShort{cluster: newCluster(t, s, "settle"), release: make(chan struct{})}
	c.crashes()
	return c
}

// inVirtualTimeCutShort runs a test on the simulator with such a cluster.
func inVirtualTimeCutShort(t *testing.T, behaviour func(*testing.T, *cutShort)) {
	t.Helper()
	onTheSimulator(t, func(t *testing.T, s store) { behaviour(t, newCutShort(t, s)) })
}

// crashes gives those who join from now on short sessions. On real stores they are longer: a busy
// machine should not end them before the test does.
func (c *cluster) crashes() {
	c.timeout = shortSession
	if c.isReal() {
		c.timeout = 2 * shortSession
	}
}

func (c *cutShort) config() job.Config {
	cfg := c.cluster.config()
	cfg.Cron = rarely
	return cfg
}

func (c *cutShort) work(ctx context.Context, _ job.ShardingContext) error {
	select {
	case <-c.release:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reruns returns the executions by failover.
func reruns(e execution) bool { return e.Source == job.SourceFailover }

// settled waits until no item runs or waits, and then a little longer.
func (c *cluster) settled() {
	c.Helper()
	c.await("nothing runs or waits", func(s *jobtree.State) bool {
		for i := range s.Items {
			if s.Items[i].Running != nil || s.Items[i].Failovering != nil || s.Items[i].Failover != nil {
				return false
			}
		}
		return len(s.FailoverItems) == 0
	})
}

// One of three instances crashes, each on a host of its own. Others run its items again
// (in ElasticJob only an instance with the same address does, defect B-01), except the one
// that it had finished (ElasticJob runs that again, too, defect B-03).
func TestCrashInMidItem(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		cfg := c.config()
		cfg.ShardingTotalCount = 6
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 && sc.Source != job.SourceFailover {
				return nil // finished before the crash
			}
			return c.work(ctx, sc)
		}
		crashes := c.join("10.0.0.1", cfg, work)
		c.timeout = lasting
		c.join("10.0.0.2", cfg, work)
		c.join("10.0.0.3", cfg, work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}, "10.0.0.2": {2, 3}, "10.0.0.3": {4, 5}})
		c.trigger(crashes, 0, 1)
		cut := c.awaitRuns("item 0 runs", 1, of(0))[0]
		c.await("item 1 finished", func(s *jobtree.State) bool {
			return len(c.record.find(func(e execution) bool { return e.Item == 1 && !e.end.IsZero() })) == 1 && s.Item(1).Running == nil
		})
		crashes.crash()
		again := c.awaitRuns("item 0 again", 1, reruns)[0]
		if again.Item != 0 || again.ip == "10.0.0.1" || again.Token <= cut.Token || !again.ScheduledTime.Equal(cut.ScheduledTime.Truncate(time.Millisecond)) {
			t.Errorf("run again as %+v after %+v", again, cut)
		}
		if e := c.record.find(func(e execution) bool { return e.Token == cut.Token && e.Item == 0 })[0]; e.end.IsZero() || e.end.After(again.begin) {
			t.Errorf("the context of the first run did not end before the second began\n%s", c.record)
		}
		close(c.release)
		c.settled()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}, "10.0.0.3": {3, 4, 5}})
		if all := c.record.find(reruns); len(all) != 1 {
			t.Errorf("run again %d times\n%s", len(all), c.record)
		}
		c.check()
	})
}

// All instances crash, and two new ones start at the same time. (In ElasticJob, records of
// the dead ones stay then, defect B-05.)
func TestAllCrashAndComeUp(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		a := c.join("10.0.0.1", c.config(), c.work)
		b := c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(a)
		c.awaitRuns("all items run", 3, anything)
		a.crash()
		b.crash()
		c.await("both sessions gone", func(s *jobtree.State) bool { return len(s.Instances)+len(s.Sessions) == 0 })
		if left := c.state(); left.Item(0).Running == nil || left.Item(1).Running == nil || left.Item(2).Running == nil {
			t.Fatalf("the records of what ran are gone:\n%s", c.dump())
		}
		c.timeout = lasting
		c.join("10.0.0.3", c.config(), c.work)
		c.join("10.0.0.4", c.config(), c.work)
		again := c.awaitRuns("all items again", 3, reruns)
		close(c.release)
		c.settled()
		items := map[int]int{}
		for _, e := range again {
			items[e.Item]++
		}
		if all := c.record.find(reruns); len(all) != 3 || len(items) != 3 {
			t.Errorf("run again: %v\n%s", items, c.record)
		}
		c.check()
	})
}

// A failover run and an item's own tick do not keep each other from running. (In ElasticJob,
// own items skip a firing, defect B-08.) If failover is switched off, items that wait for it
// are forgotten. (ElasticJob keeps them, defect B-10.)
func TestFailoverSwitchedOffForgetsWhatWaits(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		a := c.join("10.0.0.1", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.commit(coord.Put(c.job.ItemDisabled(0), nil)) // so that nobody takes it over
		c.commit(coord.Put(c.job.FailoverItem(0), nil))
		c.await("it waits", func(s *jobtree.State) bool { return len(s.FailoverItems) == 1 })
		c.configure(func(cfg *job.Config) { cfg.Failover = false })
		c.await("forgotten", func(s *jobtree.State) bool { return len(s.FailoverItems) == 0 })
		c.commit(coord.Delete(c.job.ItemDisabled(0)))
		c.configure(func(cfg *job.Config) { cfg.Failover = true })
		c.trigger(a, 1)
		c.awaitRuns("item 1", 1, of(1))
		close(c.release)
		c.settled()
		if all := c.record.find(reruns); len(all) != 0 {
			t.Errorf("what was forgotten ran:\n%s", c.record)
		}
	})
}
