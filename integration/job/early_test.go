package job_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// early is how long before their ticks the items of these tests are claimed.
const early = 300 * time.Millisecond

// beforeTick waits until a moment before a tick at which items are claimed early.
func (c *cluster) beforeTick() (tick time.Time) {
	tick = time.Now().Truncate(time.Second).Add(time.Second)
	c.pass(time.Until(tick.Add(-early / 2)))
	return tick
}

// began returns the executions for a tick.
func (c *cluster) began(tick time.Time) []execution {
	return c.record.find(func(e execution) bool { return e.ScheduledTime.Equal(tick) })
}

// Items are claimed before their tick, and begin when it comes.
func TestEarlyClaimsBeginAtTheTick(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.join("10.0.0.1", c.config(), nil, job.WithEarlyClaims(early))
		c.awaitRuns("the first tick", 3, anything)
		for range 5 {
			tick := c.beforeTick()
			for i, item := range c.state().Items {
				if item.Running == nil || !item.Fired.Tick.Equal(tick) {
					t.Errorf("item %d is not claimed for %s before it: %+v", i, tick, item)
				}
			}
			if n := len(c.began(tick)); n > 0 {
				t.Errorf("%d items have begun before the tick", n)
			}
			c.pass(early)
			runs := c.began(tick)
			for _, e := range runs {
				if !e.begin.Equal(tick) || e.Source != job.SourceNormal {
					t.Errorf("item %d began %v after its tick, %s", e.Item, e.begin.Sub(tick), e.Source)
				}
			}
			if len(runs) != 3 {
				t.Errorf("%d items of 3 have run", len(runs))
			}
		}
		c.check()
	})
}

// Who has not said how early: a store that answers slowly makes the first tick late, and those that follow begin when they
// come, each claimed by the commit that ends the run before. When it is fast again nothing is claimed early.
func TestTheLeadAdapts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), nil)
		c.awaitRuns("the first tick", 3, anything)
		// late returns how late the items begin at the next tick, and how long before it the first is claimed, 500 ms at most.
		late := func() (late, ahead time.Duration) {
			tick := time.Now().Truncate(time.Second).Add(time.Second)
			for now := range 20 {
				at := tick.Add(-500*time.Millisecond + time.Duration(now)*25*time.Millisecond)
				c.pass(time.Until(at))
				if item := c.state().Item(0); ahead == 0 && item.Running != nil && item.Fired.Tick.Equal(tick) {
					ahead = tick.Sub(at)
				}
			}
			c.pass(time.Until(tick.Add(400 * time.Millisecond)))
			runs := c.began(tick)
			if len(runs) != 3 {
				t.Fatalf("%d items of 3 have run for %s", len(runs), tick)
			}
			for _, e := range runs {
				late = max(late, e.begin.Sub(tick))
			}
			return late, ahead
		}
		if late, ahead := late(); late != 0 || ahead != 0 {
			t.Errorf("a fast store: %v late, claimed %v ahead", late, ahead)
		}
		link := m.link.(*memory.Link)
		link.Delay(50 * time.Millisecond)
		if late, _ := late(); late == 0 {
			t.Error("a slow store: the first tick is not late")
		}
		for range 3 {
			if late, ahead := late(); late != 0 || ahead != 500*time.Millisecond {
				t.Errorf("a slow store: %v late, claimed %v ahead", late, ahead)
			}
		}
		link.Delay(0)
		for range 80 {
			late()
		}
		if late, ahead := late(); late != 0 || ahead != 0 {
			t.Errorf("fast again: %v late, claimed %v ahead", late, ahead)
		}
		c.check()
	})
}

// What an operator changes between a claim and its tick still counts.
func TestEarlyClaimsAreGivenBack(t *testing.T) {
	for name, test := range map[string]struct {
		happen func(*cluster)
		runs   func(item int) bool // for the tick
	}{
		"the item is disabled": {
			happen: func(c *cluster) { c.commit(coord.Put(c.job.ItemDisabled(1), nil)) },
			runs:   func(item int) bool { return item != 1 },
		},
		"the server is disabled": {
			happen: func(c *cluster) { c.commit(coord.Put(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled))) },
			runs:   func(int) bool { return false },
		},
		"the schedule is another": {
			happen: func(c *cluster) { c.configure(func(cfg *job.Config) { cfg.Cron = rarely }) },
			runs:   func(int) bool { return false },
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			m := c.join("10.0.0.1", c.config(), nil, job.WithEarlyClaims(early))
			c.awaitRuns("the first tick", 3, anything)
			tick := c.beforeTick()
			test.happen(c)
			c.pass(early)
			ran := map[int]bool{}
			for _, e := range c.began(tick) {
				ran[e.Item] = true
			}
			for i := range 3 {
				if ran[i] != test.runs(i) {
					t.Errorf("item %d: ran is %v", i, ran[i])
				}
			}
			for i, item := range c.state().Items {
				if item.Running != nil {
					t.Errorf("item %d is still claimed", i)
				}
			}
			c.pass(time.Minute)
			m.awaitSound()
			c.check()
		})
	}
}

// An item that is claimed for its next tick and is triggered runs at once, and for the tick when that comes.
func TestTriggerOfAnItemThatIsClaimedEarly(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), nil, job.WithEarlyClaims(time.Second))
		c.awaitRuns("the first tick", 3, anything)
		tick := c.beforeTick()
		if item := c.state().Item(1); item.Running == nil || !item.Fired.Tick.Equal(tick) {
			t.Fatalf("item 1 is not claimed for %s: %+v", tick, item)
		}
		c.trigger(m, 1)
		c.pass(early / 4)
		if runs := c.record.find(func(e execution) bool { return e.Source == job.SourceManual }); len(runs) != 1 || runs[0].end.IsZero() {
			t.Errorf("before the tick these were triggered: %+v", runs)
		}
		c.pass(early)
		if runs := c.began(tick); len(runs) != 3 {
			t.Errorf("%d items of 3 have run for the tick", len(runs))
		}
		c.check()
	})
}

// A shutdown between a claim and its tick gives the claim back, so another instance runs the
// tick on time. It does not wait for the tick.
func TestEarlyClaimsOfAnInstanceThatLeaves(t *testing.T) {
	for _, failover := range []bool{false, true} {
		runInVirtualTime(t, fmt.Sprintf("failover %v", failover), func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Failover = failover
			stays := c.join("10.0.0.1", cfg, nil, job.WithEarlyClaims(early))
			leaves := c.join("10.0.0.2", cfg, nil, job.WithEarlyClaims(early))
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
			c.pass(2 * time.Second)
			tick := c.beforeTick()
			leaves.leave()
			if !time.Now().Before(tick) {
				t.Error("the shutdown has waited for the tick")
			}
			c.pass(early)
			runs := c.began(tick)
			for _, e := range runs {
				if e.ip != stays.ip || e.Source != job.SourceNormal {
					t.Errorf("item %d began on %s, %s", e.Item, e.ip, e.Source)
				}
			}
			if len(runs) != 3 {
				t.Errorf("%d items of 3 have run", len(runs))
			}
			c.check()
		})
	}
}

// An item that still runs when its next tick is near is claimed when it has ended.
func TestEarlyClaimsOfLongRuns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		long := forAWhile(900 * time.Millisecond)
		m := c.join("10.0.0.1", c.config(), long, job.WithEarlyClaims(early))
		c.awaitRuns("the first tick", 3, anything)
		first := len(c.record.find(anything))
		c.pass(10 * time.Second)
		if n := len(c.record.find(anything)) - first; n < 27 {
			t.Errorf("%d executions of 3 items in ten seconds", n)
		}
		m.awaitSound()
		c.check()
	})
}

// A backfill has its turn, although the runs of its item take so long that the next tick could be claimed whenever one
// has ended.
func TestEarlyClaimsLeaveRoomForBackfills(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), func(ctx context.Context, s job.ShardingContext) error {
			if s.Source == job.SourceBackfill {
				return elapse(ctx, 100*time.Millisecond)
			}
			return elapse(ctx, 800*time.Millisecond)
		}, job.WithEarlyClaims(early))
		c.awaitRuns("the first tick", 3, anything)
		to := time.Now().Add(-time.Hour).Truncate(time.Second)
		backfill, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: to.Add(-time.Second), To: to, Items: []int{0}})
		c.must(err)
		c.pass(5 * time.Second)
		if n := len(c.record.find(func(e execution) bool { return e.Source == job.SourceBackfill })); n != len(backfill.Ticks) {
			t.Errorf("%d of %d ticks were backfilled in five seconds", n, len(backfill.Ticks))
		}
		m.awaitSound()
		c.check()
	})
}
