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
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// undo plays an external writer who undoes at once what a scheduler does to a node. It ends with the
// function that is returned, or if the scheduler does it again without a pause.
func (c *cluster) undo(op coord.Op) (end func()) {
	ctx, cancel := context.WithCancel(c.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for times := 0; ctx.Err() == nil; {
			if _, err := c.admin.Commit(ctx, op); err == nil { // it conflicts until the scheduler has done it
				times++
			}
			if times > 2000 {
				c.Errorf("it was undone %d times", times)
				return
			}
			// What the scheduler corrects at once the view may never show. So wait only while it
			// shows what the external writer has done.
			if err := c.view.Sync(ctx); err != nil {
				continue
			}
			changed := c.view.Changed()
			if _, isThere := c.view.Snapshot().Get(op.Path); isThere != (op.Kind == coord.OpCreate) {
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// If an external writer undoes a correction each time, it is not made again as fast as the store
// can. There is a fault as long as the external writer goes on.
func TestCorrectionsThatAreUndone(t *testing.T) {
	for _, tt := range []struct {
		name string
		undo func(*cluster) coord.Op
		says func(*cluster) string
	}{
		{
			"an instance of nobody",
			func(c *cluster) coord.Op { return coord.Create(c.job.Instance("x"), nil) },
			func(c *cluster) string { return c.job.Instance("x") },
		},
		{
			"the record of a run",
			func(c *cluster) coord.Op { return coord.Delete(c.job.Running(0)) },
			func(c *cluster) string { return "restore" },
		},
		{
			"a record of no run",
			func(c *cluster) coord.Op { return coord.Create(c.job.Running(1), nil) },
			func(*cluster) string { return "comes back" },
		},
		{
			"a trigger of nobody",
			func(c *cluster) coord.Op { return coord.Create(c.job.Trigger("x"), nil) },
			func(c *cluster) string { return c.job.Trigger("x") },
		},
		{
			"the mark of a taker who is nobody",
			func(c *cluster) coord.Op { return coord.Create(c.job.Failover(2), nil) },
			func(c *cluster) string { return c.job.Failover(2) },
		},
	} {
		runInVirtualTime(t, tt.name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron = ""
			release := make(chan struct{})
			logged, logs := newLogbook()
			m, counts := c.counted("10.0.0.1")
			c.mustSchedule(m, cfg, hangs(release, item0), logs)
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			c.trigger(m, 0)
			c.awaitRuns("item 0", 1, of(0))
			end := c.undo(tt.undo(c))
			m.awaitFault(jobtype.FaultTree, tt.says(c))
			counts.take()
			lines := logged.Len()
			c.pass(5 * time.Second)
			commits, others := counts.take()
			if len(commits)+len(others) > 40 {
				t.Errorf("in 5 s: %d commits, %d other requests", len(commits), len(others))
			}
			if n := logged.Len() - lines; n > 3 {
				t.Errorf("in 5 s: %d log lines: %q", n, logged.messages()[lines:])
			}
			end()
			close(release)
		})
	}
}

// The fault is over when the external writer has done nothing for a while. If he begins again much
// later, that is corrected at once.
func TestCorrectionsThatLastAtLast(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		end := c.undo(coord.Create(c.job.Instance("x"), nil))
		m.awaitFault(jobtype.FaultTree, c.job.Instance("x"))
		c.pass(10 * time.Minute)
		m.awaitFault(jobtype.FaultTree, c.job.Instance("x"))
		end()
		gone := func(s *jobtree.State) bool { _, there := s.Instances["x"]; return !there }
		c.await("it is corrected", gone)
		c.pass(2 * time.Minute)
		m.awaitSound()
		for range 3 {
			c.commit(coord.Create(c.job.Instance("x"), nil))
			c.pass(100 * time.Millisecond)
			if !gone(c.state()) {
				t.Fatalf("it is not corrected at once:\n%s", c.dump())
			}
		}
		c.check()
	})
}

// A configuration switches MonitorExecution off, and one instance refuses it. Its runs began
// with records, which stay until the runs end: nobody removes them and nobody puts them back.
func TestRecordsOfOneWhoRefusesToBeUnmonitored(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		release := make(chan struct{})
		var hang atomic.Bool
		work := func(_ context.Context, sc job.ShardingContext) error {
			if hang.Load() && jobtree.InstanceIP(sc.InstanceID) == "10.0.0.1" {
				<-release
			}
			return nil
		}
		fair, err := strategy.Lookup(strategy.AvgAllocation, nil)
		c.must(err)
		logged, logs := newLogbook()
		old, oldCounts := c.counted("10.0.0.1")
		c.mustSchedule(old, c.config(), work, logs)
		young, youngCounts := c.counted("10.0.0.2")
		c.mustSchedule(young, c.config(), work, job.WithStrategy("NEW", fair))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		hang.Store(true)
		running := func(i int) bool {
			return len(c.record.find(func(e execution) bool { return e.Item == i && e.ip == "10.0.0.1" && e.end.IsZero() })) > 0
		}
		c.until("its items run", func() bool { return running(0) && running(2) })
		c.configure(func(cfg *job.Config) { cfg.Strategy, cfg.MonitorExecution, cfg.Failover = "NEW", job.Off, false })
		old.awaitFault(jobtype.FaultConfig, "NEW")
		young.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		c.pass(time.Second)
		oldCounts.take()
		youngCounts.take()
		lines := logged.Len()
		c.pass(5 * time.Second)
		for who, counts := range map[string]*counting{"it": oldCounts, "the leader": youngCounts} {
			if commits, others := counts.take(); len(commits)+len(others) > 20 {
				t.Errorf("in 5 s %s sent %d commits and %d other requests", who, len(commits), len(others))
			}
		}
		if n := logged.Len() - lines; n > 2 {
			t.Errorf("%d log lines: %q", n, logged.messages()[lines:])
		}
		state := c.state()
		for _, i := range []int{0, 2} {
			if !state.Item(i).Running.Is(old.Status().InstanceID) {
				t.Errorf("the record of item %d is gone:\n%s", i, c.dump())
			}
		}
		close(release)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.await("no records are left", func(s *jobtree.State) bool {
			return s.Item(0).Running == nil && s.Item(2).Running == nil
		})
	})
}

// If an instance is not allowed to remove a record, it has a fault, and tries again seldom.
func TestLeftoverThatStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		m, counts := c.counted("10.0.0.1")
		m.reg = &obstinate{Registry: counts, path: c.job.Running(1)}
		c.mustSchedule(m, cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.commit(coord.Put(c.job.Running(1), nil), coord.Put(c.job.Running(2), nil)) // empty ones are their owner's
		c.await("the other is removed", func(s *jobtree.State) bool { return s.Item(2).Running == nil })
		m.awaitFault(jobtype.FaultTree, c.job.Running(1))
		counts.take()
		c.pass(10 * time.Minute)
		m.awaitFault(jobtype.FaultTree, c.job.Running(1))
		if commits, others := counts.take(); len(commits)+len(others) > 200 {
			t.Errorf("in ten minutes %d commits and %d other requests", len(commits), len(others))
		}
		c.check()
	})
}
