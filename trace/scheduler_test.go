package trace_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// A scheduler tells a recorder everything by one option: what happens to its executions, and what
// they write.
func TestSchedulerWithARecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := jobtest.NewCluster(t)
		all, some := newPlanned(), newPlanned()
		r := newRecorder(t, all, trace.Options{})
		filtered := newRecorder(t, some, trace.Options{})
		a := c.Process("10.0.0.1", r.Option(), filtered.Only(filter(t, []string{"other"}, nil)))
		fails := errors.New("no money")
		h := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			job.Logger(ctx).Info("begins", "parameter", sc.ItemParameter)
			job.SetOutput(ctx, []byte("of "+sc.ItemParameter))
			if sc.Item == 1 {
				return fails
			}
			return nil
		})
		for _, name := range []string{"settle", "other"} {
			a.Schedule(job.Config{Name: name, Cron: "0 * * * * ?", ShardingTotalCount: 2, ShardingItemParameters: "0=a,1=b", Retry: job.Retry{Attempts: 1}}, h, r.Option()) // it has that once
		}
		c.Advance(2 * time.Minute)
		if err := a.Shutdown(time.Minute); err != nil {
			t.Error(err)
		}
		for _, r := range []*trace.Recorder{r, filtered} {
			if err := r.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}

		told := map[string]int{}
		for _, e := range all.events() {
			of := fmt.Sprintf("%s item %d %v", e.Job, e.Execution.Item, e.Kind)
			if e.Kind == jobtype.EventFinished {
				of += fmt.Sprintf(" %v %d %s %s", e.Outcome, e.Attempt, e.Output, e.Error)
			}
			told[of]++
		}
		for _, name := range []string{"settle", "other"} {
			for of, want := range map[string]int{
				" item 0 joined": 1, " item 0 configured": 1, " item 0 items": 2, " item 0 left": 1, " item 0 due": 2,
				" item 0 claimed": 2, " item 0 started": 2, " item 0 retried": 0, " item 0 finished OK 1 of a ": 2,
				" item 1 claimed": 2, " item 1 started": 2, " item 1 retried": 2, " item 1 finished FAILED 2 of b no money": 2,
			} {
				if told[name+of] != want {
					t.Errorf("%s%s: %d times, want %d", name, of, told[name+of], want)
				}
			}
		}
		if t.Failed() {
			t.Log(told)
		}
		written := map[string]int{}
		for _, l := range all.lines() {
			written[fmt.Sprintf("%s item %d: %d %s", l.Job, l.Item, l.Number, l.Text)]++
		}
		for line, want := range map[string]int{
			"settle item 0: 1 begins parameter=a": 2, "settle item 1: 1 begins parameter=b": 2, "settle item 1: 2 begins parameter=b": 2,
		} {
			if written[line] != want {
				t.Errorf("%s: %d times, want %d", line, written[line], want)
			}
		}
		for _, e := range some.events() {
			if e.Job != "other" {
				t.Errorf("the filtered recorder has %+v", e)
			}
		}
		for _, l := range some.lines() {
			if l.Job != "other" {
				t.Errorf("the filtered recorder has %+v", l)
			}
		}
		if n := len(some.lines()); n != 6 || len(some.events()) == 0 {
			t.Errorf("the filtered recorder has %d lines and %d events", n, len(some.events()))
		}
	})
}

// Whatever the sink does, jobs run as they would without it.
func TestSinkHarmsNoJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := jobtest.NewCluster(t)
		s := newPlanned(isDeaf)
		r := newRecorder(t, s, trace.Options{MaxEvents: 100})
		a := c.Process("10.0.0.1", r.Option())
		a.Schedule(job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 5}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			job.Logger(ctx).Info("x")
			return nil
		}))
		c.Advance(time.Minute)
		if n := c.Executions().Outcome(job.OutcomeOK).Len(); n < 5*58 {
			t.Errorf("%d executions", n)
		}
		if s := r.Stats(); s.Overflowed.Events == 0 || s.Overflowed.Lines == 0 || s.FailingSince.IsZero() {
			t.Errorf("%+v", s)
		}
		close(s.release)
		if err := a.Shutdown(time.Minute); err != nil {
			t.Error(err)
		}
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
