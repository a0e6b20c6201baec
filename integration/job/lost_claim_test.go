package job_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// simulated runs a test with processes that suffer what it wants, in virtual time.
func simulated(t *testing.T, test func(*testing.T, *jobtest.Cluster)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, jobtest.NewCluster(t)) })
}

// No tick is claimed in a pause, also if the answer to a claim of just before was lost: such a tick begins in
// the pause, under the claim that it has.
func TestPauseAfterALostAnswer(t *testing.T) {
	for _, away := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, 5 * time.Second} {
		for name, failover := range map[string]bool{"failover": true, "no failover": false} {
			t.Run(away.String()+", "+name, func(t *testing.T) {
				simulated(t, func(t *testing.T, c *jobtest.Cluster) {
					tick := time.Now().Truncate(time.Minute).Add(time.Minute)
					a := c.Process("10.0.0.1")
					a.Schedule(job.Config{Name: "j", Cron: "0/10 * * * * ?", ShardingTotalCount: 1, Failover: failover}, forAWhile(time.Second))
					c.AdvanceTo(tick.Add(-50 * time.Millisecond))
					a.LoseAnswers(away)
					c.AdvanceTo(tick.Add(50 * time.Millisecond))
					if _, err := c.Ops().Job("j").Pause(t.Context(), ops.PauseRequest{}); err != nil {
						t.Fatal(err)
					}
					paused, ok := c.Store().Snapshot("jobtest").Get("j/schedule")
					if !ok {
						t.Fatal("no schedule")
					}
					c.Advance(5 * time.Minute)
					begun := c.Executions().Where("the last tick before the pause", func(e jobtest.Execution) bool { return e.ScheduledTime.Equal(tick) })
					if e := begun.One(t); e.Token >= paused.Modified {
						t.Errorf("claimed with %d, after the pause with %d: %v", e.Token, paused.Modified, e)
					}
					c.Executions().Where("later ticks", func(e jobtest.Execution) bool { return e.ScheduledTime.After(tick) }).Require(t, 0)
				})
			})
		}
	}
}

// A claim whose answer was lost, and that waits for a thread for too long, is released: its tick is
// still to begin.
func TestReleaseAfterALostAnswer(t *testing.T) {
	simulated(t, func(t *testing.T, c *jobtest.Cluster) {
		tick := time.Now().Truncate(time.Hour).Add(time.Hour)
		a := c.Process("10.0.0.1")
		a.Schedule(job.Config{Name: "j", Cron: "0 0 * * * ?", ShardingTotalCount: 1, Threads: 1}, forAWhile(time.Second), job.WithEarlyClaims(10*time.Second))
		c.AdvanceTo(tick.Add(-10*time.Second - 50*time.Millisecond))
		a.LoseAnswers(time.Second)
		c.AdvanceTo(tick.Add(-5 * time.Second))
		if _, err := c.Ops().Job("j").Pause(t.Context(), ops.PauseRequest{MakeUp: true}); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Minute)
		c.Executions().Require(t, 0)
		if err := c.Ops().Job("j").Resume(t.Context(), ops.ResumeRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Minute)
		if e := c.Executions().One(t); !e.ScheduledTime.Equal(tick) {
			t.Error(e)
		}
	})
}

// A request that was cancelled is not run again, whether it was cancelled before or after its instance ended.
func TestCancelledRequestIsNotRunAgain(t *testing.T) {
	for name, wait := range map[string]time.Duration{"before it is put up": time.Second, "while it waits": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T, c *jobtest.Cluster) {
				cfg := job.Config{Name: "j", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1, Failover: true, JobParameter: "the job's"}
				a := c.Process("10.0.0.1")
				a.Schedule(cfg, forAWhile(time.Hour))
				c.Advance(time.Second)
				b := c.Process("10.0.0.2")
				b.Schedule(cfg, forAWhile(time.Minute))
				c.Advance(time.Second)
				r, err := c.Ops().Job("j").Trigger(t.Context(), job.TriggerRequest{Parameter: "2026-09"})
				if err != nil {
					t.Fatal(err)
				}
				c.Advance(time.Second)
				if strings.HasPrefix(c.Executions().One(t).InstanceID, "10.0.0.2") {
					a = b
				}
				if err := c.Ops().Job("j").DisableItems(t.Context(), 0); err != nil { // nobody takes it over
					t.Fatal(err)
				}
				a.Die()
				c.Advance(wait)
				if err := c.Ops().Job("j").Cancel(t.Context(), r.ID); err != nil {
					t.Fatal(err)
				}
				if err := c.Ops().Job("j").EnableItems(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				c.Advance(10 * time.Minute)
				c.Executions().Require(t, 1)
			})
		})
	}
}

// A run for a request that is cut short in a job without failover is not tried again, and the result says so.
func TestCutRequestSaysWhy(t *testing.T) {
	simulated(t, func(t *testing.T, c *jobtest.Cluster) {
		cfg := job.Config{Name: "j", Cron: "0/10 * * * * ?", ShardingTotalCount: 1}
		a := c.Process("10.0.0.1")
		a.Schedule(cfg, forAWhile(11*time.Second)) // it is always busy
		c.Advance(5 * time.Second)
		r, err := c.Ops().Job("j").Trigger(t.Context(), job.TriggerRequest{Parameter: "2026-09"})
		if err != nil {
			t.Fatal(err)
		}
		c.Until(time.Minute, func() bool { return c.Executions().Source(job.SourceManual).Len() == 1 })
		b := c.Process("10.0.0.2")
		b.Schedule(cfg, forAWhile(11*time.Second))
		a.Die()
		results, err := r.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := results[0]; got.Outcome != job.OutcomeCut || !strings.Contains(got.Error, "it was not tried again: the job has no failover") {
			t.Errorf("%+v", got)
		}
	})
}
