package jobtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A fault of a process that is gone does nothing, so the test that asks for it fails.
func TestFaultOfAProcessThatIsGone(t *testing.T) {
	for how, end := range map[string]func(*jobtest.Process){
		"has died": (*jobtest.Process).Die,
		"has left": func(a *jobtest.Process) { _ = a.Shutdown(time.Second) },
	} {
		for name, fault := range map[string]func(*jobtest.Process){
			"Die":         (*jobtest.Process).Die,
			"CutOff":      func(a *jobtest.Process) { a.CutOff(time.Second) },
			"LoseAnswers": func(a *jobtest.Process) { a.LoseAnswers(time.Second) },
			"LoseSession": (*jobtest.Process).LoseSession,
			"ClockOff":    func(a *jobtest.Process) { a.ClockOff(time.Second) },
		} {
			if how == "has died" && name == "Die" {
				continue // it may be repeated
			}
			t.Run(how+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					failure := failureOf(t, func(t testing.TB) {
						a := jobtest.NewCluster(t).Process("10.0.0.1")
						end(a)
						fault(a)
					})
					if want := "jobtest: " + name + " of the process 10.0.0.1, which " + how + " before"; !strings.HasPrefix(failure, want) {
						t.Errorf("the failure does not begin with %q: %s", want, failure)
					}
				})
			})
		}
	}
}

// Nobody can shut down what has died. What has left may be told again.
func TestShutdownOfADeadProcess(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1")
		a.Die()
		a.Die() // two handlers may do that
		if err := a.Shutdown(time.Second); err == nil || !strings.Contains(err.Error(), "10.0.0.1, which has died") {
			t.Error(err)
		}
	})
}

// A handler that outlives the test cannot fail it.
func TestFaultAfterTheTest(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1")
		a.Schedule(every("0 * * * * ?"), job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			time.Sleep(time.Minute)
			a.Die()
			return nil
		}))
		c.Until(time.Hour, func() bool { return c.Executions().Running().Len() == 1 })
	})
}

// The history shows what configuration an instance goes by, and a handler that takes the end of its context for success.
func TestHistoryOfChangesAndEnds(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		a := c.Process("10.0.0.1")
		a.Schedule(every("0 * * * * ?"), job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return nil
		}))
		c.Until(time.Hour, func() bool { return c.Executions().Running().Len() == 1 })
		steer := c.Ops().Job("j")
		set, err := steer.Settings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		set.Config.Cron = "30 * * * * ?"
		if err := steer.Update(t.Context(), ops.UpdateRequest{Config: set.Config, Version: set.Version}); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Second)
		if _, err := steer.Kill(t.Context(), ops.KillRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Second)
		c.Executions().Outcome(job.OutcomeOK).Require(t, 1)
		for _, want := range []string{
			"10.0.0.1   j goes by another configuration: cron: ", "30 * * * * ?",
			"10.0.0.1   j item 0, tick 2000-01-01 00:01:00 UTC, token ", ": OK, after its context had ended: job: execution killed",
		} {
			if history := c.Recorder().String(); !strings.Contains(history, want) {
				t.Errorf("the history does not show %q:\n%s", want, history)
			}
		}
	})
}
