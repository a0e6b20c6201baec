package job_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// waiter is what a request can be waited for with.
type waiter interface {
	Wait(ctx context.Context) ([]job.ItemResult, error)
}

// wait waits for the results of a request, and fails the test if there are none.
func (c *cluster) wait(r waiter) []job.ItemResult {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), c.patience())
	defer cancel()
	results, err := r.Wait(ctx)
	if err != nil {
		c.Fatalf("wait: %v\n%s%s", err, c.dump(), c.record)
	}
	return results
}

func resultsOf(results []job.ItemResult) (list []job.Outcome) {
	for _, r := range results {
		list = append(list, r.Outcome)
	}
	return list
}

// Wait tells how each item has ended, whoever waits, and also of a one-off job.
func TestWaitForATrigger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ErrorHandler = "", "IGNORE"
		m := c.join("10.0.0.1", cfg, func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				return errors.New("no disk")
			}
			return nil
		})
		c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		m.leave()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.join("10.0.0.3", cfg, func(context.Context, job.ShardingContext) error { return errors.New("no disk") })
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 2}, "10.0.0.3": {1}})
		c.commit(coord.Put(c.job.ItemDisabled(2), nil))
		result, err := ops.New(c.admin).Job(string(c.job)).Trigger(t.Context(), job.TriggerRequest{Parameter: "p", By: "anna"})
		c.must(err)
		got := c.wait(result)
		if want := []job.Outcome{job.OutcomeOK, job.OutcomeFailed, job.OutcomeSkipped}; !slices.Equal(resultsOf(got), want) {
			t.Fatalf("outcomes %v, want %v", resultsOf(got), want)
		}
		if got[1].Error != "no disk" || got[1].Runs != 1 || got[1].Failed != 1 || got[1].TaskID == "" || got[1].Token == 0 || got[2].Error != "the item is disabled" {
			t.Errorf("results %+v", got)
		}
		for _, e := range c.record.find(anything) {
			if e.JobParameter != "p" || e.Source != job.SourceManual {
				t.Errorf("%+v", e)
			}
		}
		again, err := ops.New(c.admin).Job(string(c.job)).AwaitRequest(t.Context(), result.ID)
		if err != nil || !slices.Equal(again, got) {
			t.Errorf("once more: %+v, %v", again, err)
		}
		if _, err := ops.New(c.admin).Job(string(c.job)).AwaitRequest(t.Context(), "none"); !errors.Is(err, job.ErrNoRequest) {
			t.Errorf("no request: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := result.Wait(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
		if _, err := ops.New(c.admin).Job("another").Trigger(t.Context(), job.TriggerRequest{}); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("another job: %v", err)
		}
	})
}

// An instance dies while it runs items of a request. With failover the outcome is that of
// whoever has taken them over; without it they were cut short.
func TestWaitForATriggerWhoseRunnerDies(t *testing.T) {
	for name, tc := range map[string]struct {
		failover bool
		want     []job.Outcome
	}{
		"failover":    {true, []job.Outcome{job.OutcomeOK, job.OutcomeOK, job.OutcomeOK}},
		"no failover": {false, []job.Outcome{job.OutcomeCut, job.OutcomeOK, job.OutcomeCut}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
				cfg := c.config()
				cfg.Failover = tc.failover
				crashes := c.join("10.0.0.1", cfg, c.work)
				c.timeout = lasting
				c.join("10.0.0.2", cfg, c.work)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
				result, err := ops.New(c.admin).Job(string(c.job)).Trigger(t.Context(), job.TriggerRequest{Parameter: "p"})
				c.must(err)
				c.awaitRuns("all items", 3, anything)
				crashes.crash()
				if tc.failover {
					c.awaitRuns("they are taken over", 2, reruns)
				}
				close(c.release)
				if got := resultsOf(c.wait(result)); !slices.Equal(got, tc.want) {
					t.Errorf("outcomes %v, want %v", got, tc.want)
				}
				for _, e := range c.record.find(anything) {
					if e.JobParameter != "p" {
						t.Errorf("another parameter: %+v", e)
					}
				}
				c.check()
			})
		})
	}
}

// A request survives the end of all processes, before it has begun and while it runs.
func TestRequestsSurviveARestart(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		m := c.join("10.0.0.1", cfg, c.work)
		var waiting []*job.Requested
		for range 3 {
			result := c.trigger(m)
			waiting = append(waiting, result)
		}
		c.awaitRuns("the first", 1, anything)
		_ = m.stop() // it hands the first over
		close(c.release)
		c.join("10.0.0.2", cfg, c.work)
		for n, result := range waiting {
			if got := resultsOf(c.wait(result)); !slices.Equal(got, []job.Outcome{job.OutcomeOK}) {
				t.Errorf("the outcome of request %d is %v", n, got)
			}
		}
		if n := len(c.record.find(anything)); n != 4 {
			t.Errorf("%d executions, want 4\n%s", n, c.record)
		}
		c.check()
	})
}

// In a job without records requests run, too, and their outcomes are told.
func TestRequestsWithoutRecords(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Failover, cfg.MonitorExecution, cfg.ErrorHandler = rarely, false, job.Off, "IGNORE"
		m := c.join("10.0.0.1", cfg, func(_ context.Context, sc job.ShardingContext) error {
			if sc.JobParameter == "bad" {
				return errors.New("bad")
			}
			return nil
		})
		for parameter, want := range map[string]job.Outcome{"good": job.OutcomeOK, "bad": job.OutcomeFailed} {
			result, err := m.Trigger(t.Context(), job.TriggerRequest{Parameter: parameter})
			c.must(err)
			if got := resultsOf(c.wait(result)); !slices.Equal(got, []job.Outcome{want, want, want}) {
				t.Errorf("%s: outcomes %v", parameter, got)
			}
		}
		if n := len(c.record.find(anything)); n != 6 {
			t.Errorf("%d executions\n%s", n, c.record)
		}
	})
}

// The items of a tick that have failed run again for that tick, and no others.
func TestRetryOfATick(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ErrorHandler = "IGNORE"
		c.join("10.0.0.1", cfg, func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item > 0 && sc.Source != job.SourceRetry {
				return errors.New("failed")
			}
			return nil
		})
		c.awaitRuns("a tick", 3, func(e execution) bool { return !e.end.IsZero() })
		c.pause(false)
		c.settled()
		got, err := c.ops().Retry(t.Context(), ops.RetryRequest{})
		c.must(err)
		if !slices.Equal(got.Items, []int{1, 2}) || len(got.Ticks) != 1 {
			t.Errorf("retried: %+v", got)
		}
		if results := resultsOf(c.wait(got)); !slices.Equal(results, []job.Outcome{job.OutcomeOK, job.OutcomeOK}) {
			t.Errorf("outcomes %v", results)
		}
		for _, e := range c.record.find(func(e execution) bool { return e.Source == job.SourceRetry }) {
			if !e.ScheduledTime.Equal(got.Ticks[0]) {
				t.Errorf("retried for %s: %+v", got.Ticks[0], e)
			}
		}
		if _, err := c.ops().Retry(t.Context(), ops.RetryRequest{}); !errors.Is(err, ops.ErrNothingFailed) {
			t.Errorf("nothing has failed: %v", err)
		}
		c.check()
	})
}

// A backfill runs chosen items for the ticks of some time, in order, and the schedule goes on.
func TestBackfill(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Misfire = job.Off // so that a tick that is late would be skipped
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceBackfill {
				return elapse(ctx, 300*time.Millisecond)
			}
			return nil
		})
		c.awaitRuns("a tick", 3, anything)
		to := time.Now().Add(-time.Hour).Truncate(time.Second)
		from := to.Add(-9 * time.Second)
		got, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: from, To: to, Items: []int{2, 0}, Parameter: "old"})
		c.must(err)
		if !slices.Equal(got.Items, []int{0, 2}) || len(got.Ticks) != 10 || !got.Ticks[0].Equal(from) || !got.Ticks[9].Equal(to) {
			t.Fatalf("backfill: %+v", got)
		}
		results := c.wait(got)
		if !slices.Equal(resultsOf(results), []job.Outcome{job.OutcomeOK, job.OutcomeOK}) || results[0].Runs != 10 {
			t.Errorf("results %+v", results)
		}
		m.leave()
		for _, item := range got.Items {
			var ran []time.Time
			for _, e := range c.record.find(func(e execution) bool { return e.Item == item && e.Source == job.SourceBackfill }) {
				ran = append(ran, e.ScheduledTime.UTC())
				if e.JobParameter != "old" {
					t.Errorf("parameter %q", e.JobParameter)
				}
			}
			if !slices.EqualFunc(ran, got.Ticks, time.Time.Equal) {
				t.Errorf("item %d ran for %v, want %v", item, ran, got.Ticks)
			}
			c.everyTick(item)
		}
		c.check()
	})
}

// everyTick fails if the schedule of every second has left a tick out for an item.
func (c *cluster) everyTick(item int) {
	c.Helper()
	var last time.Time
	for _, e := range c.record.find(func(e execution) bool {
		return e.Item == item && (e.Source == job.SourceNormal || e.Source == job.SourceMisfire)
	}) {
		if !last.IsZero() && e.ScheduledTime.Sub(last) > time.Second {
			c.Errorf("item %d has run for %s and then for %s\n%s", item, last, e.ScheduledTime, c.record)
		}
		last = e.ScheduledTime
	}
}

// A queue that is full refuses a request, and says so.
func TestQueueIsFull(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		cfg := c.config()
		cfg.ShardingTotalCount = 2
		m := c.join("10.0.0.1", cfg, c.work)
		for range 100 {
			c.trigger(m, 1)
		}
		if _, err := m.Trigger(t.Context(), job.TriggerRequest{}); !errors.Is(err, job.ErrQueueFull) {
			t.Errorf("got %v", err)
		}
		c.trigger(m, 0)
		close(c.release)
		c.awaitRuns("all", 101, func(e execution) bool { return !e.end.IsZero() })
		c.await("all have ended", func(s *jobtree.State) bool {
			return !slices.ContainsFunc(s.Requests, func(r *jobtree.Request) bool { return r.Ended.IsZero() })
		})
		c.check()
	})
}

// A job whose runs take longer than the time between two ticks makes up without a pause. What
// was triggered has its turn all the same: after the run that is under way.
func TestTriggerOfAJobThatIsAlwaysLate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceManual {
				return nil
			}
			return elapse(ctx, 1500*time.Millisecond)
		})
		c.awaitRuns("it makes up", 2, func(e execution) bool { return e.Source == job.SourceMisfire })
		r := c.trigger(m)
		before := len(c.record.find(anything)) // the request stands in the tree, and may run already
		if got := c.wait(r); got[0].Outcome != job.OutcomeOK {
			t.Errorf("results %+v", got)
		}
		// One may be claimed before its instance sees the request. What begins after it does not count.
		others := slices.IndexFunc(c.record.find(anything)[before:], func(e execution) bool { return e.Source == job.SourceManual })
		if others > 1 {
			t.Errorf("it came after %d other executions\n%s", others, c.record)
		}
		c.check()
	})
}
