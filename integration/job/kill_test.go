package job_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ops returns the operations on the job, as an operator has them.
func (c *cluster) ops() *ops.Job { return ops.New(c.admin).By("anna").Job(string(c.job)) }

// kill kills, and fails the test if it cannot.
func (c *cluster) kill(r ops.KillRequest) []ops.Killed {
	c.Helper()
	killed, err := c.ops().Kill(c.Context(), r)
	if err != nil {
		c.Fatalf("kill: %v", err)
	}
	return killed
}

// completions returns how the last executions of the items have ended.
func completions(t *testing.T, s *jobtree.State) (outcomes []jobtree.Outcome) {
	t.Helper()
	for i := range s.Items {
		outcome := jobtree.Outcome("")
		if done := s.Items[i].Completed; done != nil {
			d, err := done.Document()
			if err != nil {
				t.Error(err)
			}
			outcome = d.Outcome
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

// killed waits until the items have ended in that way, nothing waits, and no kill is left.
func (c *cluster) awaitOutcomes(want ...jobtree.Outcome) {
	c.Helper()
	c.await("the items have ended, and no kill is left", func(s *jobtree.State) bool {
		for i := range s.Items {
			if s.Items[i].Running != nil {
				return false
			}
		}
		return slices.Equal(completions(c.T, s), want) && len(s.Kills) == 0 && len(s.FailoverItems) == 0
	})
}

// A kill that names an execution which has ended kills nothing else.
func TestKillThatComesLate(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.JobParameter == "short" {
				return nil
			}
			return c.work(ctx, sc)
		})
		trigger := func(parameter string) {
			if _, err := m.Trigger(t.Context(), job.TriggerRequest{Parameter: parameter}); err != nil {
				t.Fatal(err)
			}
		}
		trigger("short")
		first := c.awaitRuns("a run", 1, func(e execution) bool { return !e.end.IsZero() })[0]
		c.awaitOutcomes(jobtree.OutcomeOK)
		trigger("long")
		c.awaitRuns("another run", 2, anything)
		if _, err := c.ops().Kill(t.Context(), ops.KillRequest{Token: first.Token}); !errors.Is(err, ops.ErrNotRunning) {
			t.Errorf("a kill of an execution that has ended: %v", err)
		}
		// Another program may write it without a look.
		c.commit(coord.Put(c.job.Kill(0), jobtree.EncodeKill(jobtree.KillDocument{Token: first.Token})))
		c.await("the kill is gone", func(s *jobtree.State) bool { return len(s.Kills) == 0 })
		close(c.release)
		c.awaitOutcomes(jobtree.OutcomeOK)
		for _, e := range c.record.find(anything) {
			if e.cause != nil {
				t.Errorf("killed: %+v", e)
			}
		}
	})
}

// The runner is cut off before it can see the kill: nobody runs the item again, unless the
// operator wants that.
func TestKillOfARunnerThatIsCutOff(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		cfg := c.config()
		crashes := c.join("10.0.0.1", cfg, c.work)
		c.timeout = lasting
		c.join("10.0.0.2", cfg, c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(crashes)
		c.awaitRuns("all items", 3, anything)
		crashes.crash()
		c.kill(ops.KillRequest{Items: []int{0}})
		c.kill(ops.KillRequest{Items: []int{2}, Failover: true})
		c.awaitRuns("item 2 again", 1, reruns)
		close(c.release)
		c.awaitOutcomes(jobtree.OutcomeKilled, jobtree.OutcomeOK, jobtree.OutcomeOK)
		if again := c.record.find(reruns); len(again) != 1 || again[0].Item != 2 {
			t.Errorf("run again: %+v", again)
		}
		c.check()
	})
}

// A kill of a tick ends what runs for it, and what has not begun does not begin.
func TestKillOfATick(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		cfg := c.cluster.config()
		cfg.Cron, cfg.Threads, cfg.ShardingTotalCount = "0/20 * * * * ?", 2, 4
		c.join("10.0.0.1", cfg, c.work)
		begun := c.awaitRuns("two of four items", 2, anything)
		tick := begun[0].ScheduledTime
		killed := c.kill(ops.KillRequest{Tick: tick})
		if len(killed) < 2 {
			t.Errorf("killed %+v", killed)
		}
		c.await("nothing runs", func(s *jobtree.State) bool {
			for i := range s.Items {
				if fired := s.Items[i].Fired; s.Items[i].Running != nil || fired == nil || fired.Tick.Before(tick) {
					return false
				}
			}
			return true
		})
		close(c.release)
		c.awaitRuns("the next tick", 4, func(e execution) bool { return e.ScheduledTime.After(tick) && !e.end.IsZero() })
		for _, e := range c.record.find(func(e execution) bool { return e.ScheduledTime.Equal(tick) }) {
			if e.cause == nil && e.err == nil {
				t.Errorf("has run: %+v", e)
			}
		}
		c.check()
	})
}
