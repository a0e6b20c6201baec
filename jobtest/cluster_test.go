package jobtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// inCluster runs a test with a cluster in a bubble.
func inCluster(t *testing.T, test func(*testing.T, *jobtest.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, jobtest.NewCluster(t)) })
}

// lasts is a handler that works for a while, or until its context ends.
func lasts(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		if d == 0 {
			return nil // with a timer of no time the runtime may crash: see the package comment
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// every returns the configuration of a job with one item, and failover.
func every(cron string) job.Config {
	return job.Config{Name: "j", Cron: cron, ShardingTotalCount: 1, Failover: true}
}

// pair starts a job on two instances, and lets the first one begin its item.
func pair(c *jobtest.Cluster, cfg job.Config, h job.Handler) (first, second *jobtest.Process) {
	one, two := c.Process("10.0.0.1"), c.Process("10.0.0.2")
	one.Schedule(cfg, h)
	two.Schedule(cfg, h)
	c.Until(time.Hour, func() bool { return c.Executions().Running().Len() == 1 })
	if c.Executions().On("10.0.0.1").Len() == 1 {
		return one, two
	}
	return two, one
}

func TestDie(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a, _ := pair(c, every("0 * * * * ?"), lasts(20*time.Second))
		c.Advance(time.Second)
		a.Die()
		cut := c.Executions().Outcome(job.OutcomeCut).One(t)
		if !errors.Is(cut.Err, jobtest.ErrDied) || cut.Took != time.Second {
			t.Error(cut)
		}
		c.Advance(8 * time.Second) // the session is there until its time-out has passed
		c.Executions().Running().Require(t, 0)
		if n := c.Store().Sessions(); n != 3 {
			t.Errorf("%d sessions, want those of two instances and the operator", n)
		}
		c.Advance(3 * time.Second)
		again := c.Executions().Running().One(t)
		if again.Source != job.SourceFailover || again.Token <= cut.Token || !again.ScheduledTime.Equal(cut.ScheduledTime) {
			t.Error(again)
		}
		c.Advance(time.Minute)
		jobtest.NoTickTwice(t, c.Executions())
		jobtest.NoOverlap(t, c.Executions())
		jobtest.TokensGrow(t, c.Executions())
	})
}

// What a handler does after the death of its instance is not recorded, and it may take its time.
func TestDieInAHandlerThatGoesOn(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1")
		a.Schedule(every("0 * * * * ?"), job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			a.Die()
			time.Sleep(time.Hour)
			return nil
		}))
		c.Advance(3 * time.Hour)
		if e := c.Executions().One(t); e.Outcome != job.OutcomeCut || e.Took != 0 {
			t.Error(e)
		}
		// A process that comes up later makes up for all.
		c.Process("10.0.0.1").Schedule(every("0 * * * * ?"), lasts(0))
		c.Advance(time.Second)
		c.Executions().Source(job.SourceFailover).Outcome(job.OutcomeOK).Require(t, 1)
	})
}

// sleeps is a handler that does not watch its context.
func sleeps(context.Context, job.ShardingContext) error {
	time.Sleep(time.Minute)
	return nil
}

// A test may end while handlers work that do not watch their contexts.
func TestEndWithHandlersThatGoOn(t *testing.T) {
	for name, act := range map[string]func(*jobtest.Process){
		"lives": func(*jobtest.Process) {},
		"dies":  (*jobtest.Process).Die,
		"left":  func(a *jobtest.Process) { _ = a.Shutdown(time.Second) }, // its handler still runs
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
				a := c.Process("10.0.0.1")
				a.Schedule(every("0/10 * * * * ?"), job.HandlerFunc(sleeps))
				c.Advance(11 * time.Second)
				act(a)
			})
		})
	}
}

func TestShutdown(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a, _ := pair(c, every("0 * * * * ?"), lasts(20*time.Second))
		begin := time.Now()
		if err := a.Shutdown(time.Minute); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 20*time.Second {
			t.Errorf("it has waited %v for a handler", took)
		}
		c.Executions().Outcome(job.OutcomeOK).Require(t, 1)
		c.Advance(time.Minute)
		c.Executions().Source(job.SourceFailover).Require(t, 0)
		if err := a.Shutdown(time.Minute); err != nil {
			t.Errorf("again: %v", err)
		}
	})
}

// A process is killed when its time to drain is over, or before.
func TestDieDuringShutdown(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a, _ := pair(c, every("0 0 * * * ?"), lasts(time.Minute))
		time.AfterFunc(30*time.Second, a.Die)
		if err := a.Shutdown(time.Hour); err == nil {
			t.Error("it has left in order")
		}
		c.Executions().Outcome(job.OutcomeCut).Where("died", func(e jobtest.Execution) bool { return errors.Is(e.Err, jobtest.ErrDied) }).Require(t, 1)
		c.Advance(2 * time.Minute)
		c.Executions().Source(job.SourceFailover).Outcome(job.OutcomeOK).Require(t, 1)
	})
}

func TestCutOff(t *testing.T) {
	for _, tc := range []struct {
		name    string
		d       time.Duration
		outcome job.Outcome
		err     error
		runs    int
	}{
		{"shorter than the session", 5 * time.Second, job.OutcomeOK, nil, 1},
		{"longer than the session", 30 * time.Second, job.OutcomeCut, coord.ErrSessionLost, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
				a, _ := pair(c, every("0 0 * * * ?"), lasts(20*time.Second))
				a.CutOff(tc.d)
				c.Advance(50 * time.Second)
				execs := c.Executions()
				execs.Require(t, tc.runs)
				if e := execs.List()[0]; e.Outcome != tc.outcome || !errors.Is(e.Err, tc.err) {
					t.Error(e)
				}
				if s := a.Node().Job("j").Status(); !s.Registered {
					t.Errorf("not back: %+v", s)
				}
				jobtest.NoOverlap(t, execs)
			})
		})
	}
}

// A fault takes the place of the one before.
func TestCutOffAgain(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1")
		s := a.Schedule(every("0 0 * * * ?"), lasts(0))
		a.CutOff(5 * time.Second)
		c.Advance(4 * time.Second)
		a.CutOff(5 * time.Second)
		c.Advance(4 * time.Second)
		if state := s.Status().Session; state != coord.Suspended {
			t.Errorf("the session is %v", state)
		}
		c.Advance(time.Second)
		if state := s.Status().Session; state != coord.Connected {
			t.Errorf("the session is %v", state)
		}
	})
}

func TestStoreAway(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		c.Process("10.0.0.1").Schedule(every("0 * * * * ?"), lasts(time.Second))
		c.Advance(30 * time.Second)
		c.StoreAway(5 * time.Minute)
		c.Advance(4 * time.Minute)
		c.Executions().Require(t, 0)
		c.Faults().Kind(jobtype.FaultStore).Lasting().Require(t, 1)
		c.Advance(2 * time.Minute)
		c.Executions().Source(job.SourceMisfire).Require(t, 1)
		if f := c.Faults().Kind(jobtype.FaultStore).One(t); !f.IsOver() {
			t.Error(f)
		}
	})
}

func TestLoseAnswers(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a, _ := pair(c, every("0/5 * * * * ?"), lasts(time.Second))
		for range 10 {
			a.LoseAnswers(7 * time.Second)
			c.Advance(30 * time.Second)
		}
		jobtest.NoTickTwice(t, c.Executions())
		jobtest.TokensGrow(t, c.Executions())
	})
}

// A process that has lost its session without knowing works beside its successor for a while.
func TestLoseSession(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a, _ := pair(c, every("0 0 * * * ?"), lasts(20*time.Second))
		a.LoseSession()
		c.Advance(time.Second)
		both := c.Executions().Running()
		both.Require(t, 2)
		jobtest.TokensGrow(t, both)
		if failure := failureOf(t, func(t testing.TB) { jobtest.NoOverlap(t, both) }); !strings.Contains(failure, "item 0 was begun with token") {
			t.Error(failure)
		}
		c.Advance(30 * time.Second)
		if e := c.Executions().Outcome(job.OutcomeCut).One(t); !errors.Is(e.Err, coord.ErrSessionLost) {
			t.Error(e)
		}
		c.Executions().Source(job.SourceFailover).Outcome(job.OutcomeOK).Require(t, 1)
		if s := a.Node().Job("j").Status(); !s.Registered {
			t.Errorf("not back: %+v", s)
		}
	})
}

func TestClockOff(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1")
		a.Schedule(every("0 * * * * ?"), lasts(time.Second))
		a.ClockOff(7 * time.Second)
		c.Advance(54 * time.Second)
		if e := c.Executions().One(t); e.Began.Second() != 53 {
			t.Error(e)
		}
		c.Until(5*time.Minute, func() bool { return c.Faults().Kind(jobtype.FaultClock).Lasting().Len() == 1 })
		a.ClockOff(0)
		c.Until(5*time.Minute, func() bool { return c.Faults().Lasting().Len() == 0 })
	})
}

// The operations on jobs work in a cluster.
func TestOps(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		holiday, err := calendar.Parse([]byte("timeZone: UTC\ndates: [2026-12-25]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ops().PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "holidays", Document: holiday.Document()}); err != nil {
			t.Fatal(err)
		}
		c.AdvanceTo(time.Date(2026, 12, 23, 0, 0, 0, 0, time.UTC))
		cfg := job.Config{Name: "j", Cron: "0 0 12 * * ?", TimeZone: "UTC", Calendars: []string{"holidays"}, ShardingTotalCount: 2}
		begin := time.Now()
		c.Process("10.0.0.1").Schedule(cfg, lasts(time.Second))
		c.Advance(4 * 24 * time.Hour)
		ticks, err := jobtest.Ticks(cfg, begin, time.Now(), holiday)
		if err != nil || len(ticks) != 3 {
			t.Fatalf("%v, %v", ticks, err)
		}
		jobtest.EachTickOnce(t, c.Executions(), ticks, 2)

		if _, err := c.Ops().Job("j").Pause(t.Context(), ops.PauseRequest{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ops().Job("j").Trigger(t.Context(), job.TriggerRequest{Items: []int{1}}); err != nil {
			t.Fatal(err)
		}
		c.Advance(24 * time.Hour)
		c.Executions().Source(job.SourceManual).Item(1).Outcome(job.OutcomeOK).Require(t, 1)
		c.Executions().Source(job.SourceNormal).Require(t, 6)
	})
}

// Clocks that are put forward and back.
func TestAdvanceToAChangeOfClocks(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		c.AdvanceTo(time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC))
		cfg := every("0 30 2 * * ?")
		cfg.TimeZone = "Europe/Berlin"
		begin := time.Now()
		c.Process("10.0.0.1").Schedule(cfg, lasts(time.Second))
		c.Advance(3 * 24 * time.Hour)
		ticks, err := jobtest.Ticks(cfg, begin, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		jobtest.EachTickOnce(t, c.Executions(), ticks, 1)
	})
}

// Several jobs of a process, one of them of the other kind.
func TestSeveralJobs(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1", job.WithLabels("gpu"))
		a.Schedule(job.Config{Name: "often", Cron: "0 * * * * ?", ShardingTotalCount: 1, Label: "gpu"}, lasts(0))
		rebuild := a.Schedule(job.Config{Name: "rebuild", ShardingTotalCount: 1}, lasts(0))
		if _, err := rebuild.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(2 * time.Minute)
		c.Executions().Of("often").Require(t, 2)
		c.Executions().Of("rebuild").Require(t, 1)
	})
}

func TestClusterRefuses(t *testing.T) {
	if failure := failureOf(t, func(t testing.TB) { jobtest.NewCluster(t) }); !strings.Contains(failure, "synctest.Test") {
		t.Error(failure)
	}
	for _, tc := range []struct {
		name string
		test func(c *jobtest.Cluster)
		says []string
	}{
		{"a wrong configuration", func(c *jobtest.Cluster) { c.Process("a").Schedule(job.Config{Name: "j"}, lasts(0)) }, []string{"a: ", "shardingTotalCount"}},
		{"a wrong address", func(c *jobtest.Cluster) { c.Process("a/b") }, []string{"a/b"}},
		{"time that goes back", func(c *jobtest.Cluster) { c.Advance(-time.Second) }, []string{"does not go back"}},
		{"a time in the past", func(c *jobtest.Cluster) { c.AdvanceTo(time.Unix(0, 0)) }, []string{"does not go back"}},
		{
			"what does not happen", func(c *jobtest.Cluster) {
				c.Process("a").Schedule(every("0 * * * * ?"), lasts(0))
				c.Until(90*time.Second, func() bool { return false })
			},
			[]string{"1m30s", "j item 0, tick", "OK"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := failureOf(t, func(t testing.TB) { tc.test(jobtest.NewCluster(t)) })
				for _, says := range tc.says {
					if !strings.Contains(failure, says) {
						t.Errorf("the failure does not say %q: %s", says, failure)
					}
				}
			})
		})
	}
}
