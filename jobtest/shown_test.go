package jobtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// A process that has died or left takes no further job. The failure says so, and what a restart is.
func TestScheduleOnAProcessThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := failureOf(t, func(t testing.TB) {
			a := jobtest.NewCluster(t).Process("10.0.0.1")
			a.Die()
			a.Schedule(settle, newSettler())
		})
		if want := "jobtest: Schedule of job settle on the process 10.0.0.1, which has died before"; !strings.HasPrefix(failure, want) {
			t.Errorf("the failure does not begin with %q: %s", want, failure)
		}
	})
}

// A new version whose configuration is not in force is found in the history.
func TestHistoryTellsOfAConfigurationThatIsNotInForce(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		const says = "10.0.0.2   settle has a configuration that is not in force"
		c.Process("10.0.0.1").Schedule(settle, newSettler())
		c.Process("10.0.0.3").Schedule(settle, newSettler())
		if history := c.Recorder().String(); strings.Contains(history, "not in force") {
			t.Error(history)
		}
		other := settle
		other.ShardingTotalCount = 8
		c.Process("10.0.0.2").Schedule(other, newSettler())
		if history := c.Recorder().String(); !strings.Contains(history, says) {
			t.Error(history)
		}
	})
}

// The faults that are too many have a mark, and their text has its cause.
func TestFaultsHaveAMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := failureOf(t, func(t testing.TB) {
			c := jobtest.NewCluster(t)
			a := c.Process("10.0.0.1")
			a.Schedule(settle, newSettler())
			c.Process("10.0.0.2").Schedule(settle, newSettler())
			a.ClockOff(time.Hour)
			c.Advance(time.Minute)
			c.Faults().Lasting().Require(t, 0)
		})
		if !strings.Contains(failure, "\n> 2000-01-01") || !strings.Contains(failure, "this instance runs nothing, and others") {
			t.Error(failure)
		}
	})
}

// Without MonitorExecution there are no tokens, and the check says so.
func TestNoTokensWithoutMonitorExecution(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		cfg := settle
		cfg.MonitorExecution, cfg.Failover = job.Off, false
		c.Process("10.0.0.1").Schedule(cfg, newSettler())
		c.Advance(6 * time.Minute)
		failure := failureOf(t, func(t testing.TB) { jobtest.TokensGrow(t, c.Executions()) })
		if !strings.Contains(failure, "settle: item 0 has no token, because MonitorExecution of the job is off") {
			t.Error(failure)
		}
	})
}

// A key that a handler makes of the scheduled time is the same when a trigger is failed over.
func TestATriggerKeepsItsTimeInAFailover(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		c.Advance(123456789 * time.Nanosecond)
		cfg := job.Config{Name: "settle", ShardingTotalCount: 1, Failover: true}
		for _, address := range []string{"10.0.0.1", "10.0.0.2"} {
			in := c.Process(address)
			in.Schedule(cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
				if sc.Source != job.SourceFailover {
					in.Die()
				}
				return nil
			}))
		}
		if _, err := c.Ops().Job("settle").Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Minute)
		first, again := c.Executions().Source(job.SourceManual).One(t), c.Executions().Source(job.SourceFailover).One(t)
		if !first.ScheduledTime.Equal(again.ScheduledTime) {
			t.Errorf("got %v after %v", again.ScheduledTime, first.ScheduledTime)
		}
	})
}
