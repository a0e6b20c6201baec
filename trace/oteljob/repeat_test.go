package oteljob_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// The run after a failover links to the one that was cut short, in another process.
func TestFailoverLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		a, b := c.Process("10.0.0.1", r.options()...), c.Process("10.0.0.2", r.options()...)
		a.Schedule(settleOne, sleeps(30*time.Second))
		c.Advance(time.Second)
		b.Schedule(settleOne, sleeps(30*time.Second))
		c.Advance(5*time.Minute + 10*time.Second)
		a.Die()
		c.Advance(2 * time.Minute)
		cut, again := r.bySource(job.SourceNormal), r.bySource(job.SourceFailover)
		requireLink(t, again, cut, "repeats")
		if again.SpanContext.TraceID() != cut.SpanContext.TraceID() {
			t.Error("the failover of a tick is not in the trace of that tick")
		}
	})
}

// A retry that an operator asks for links to the execution that has failed.
func TestRetryLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		var calls atomic.Int32
		c.Process("10.0.0.1", r.options()...).Schedule(settleOne, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			if calls.Add(1) == 1 {
				return errors.New("no money")
			}
			return nil
		}))
		c.Advance(5*time.Minute + time.Second)
		if _, err := c.Ops().Job("settle").Retry(t.Context(), ops.RetryRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(10 * time.Second)
		requireLink(t, r.bySource(job.SourceRetry), r.bySource(job.SourceNormal), "repeats")
	})
}

// Without IDs nobody can know the span of another process: no link is better than one to nowhere.
func TestWithoutIDsNoLinkToNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t)
		c := jobtest.NewCluster(t)
		a, b := c.Process("10.0.0.1", r.options()...), c.Process("10.0.0.2", r.options()...)
		a.Schedule(settleOne, sleeps(30*time.Second))
		c.Advance(time.Second)
		b.Schedule(settleOne, sleeps(30*time.Second))
		c.Advance(5*time.Minute + 10*time.Second)
		a.Die()
		c.Advance(2 * time.Minute)
		cut, again := r.bySource(job.SourceNormal), r.bySource(job.SourceFailover)
		if len(again.Links) != 0 || of(again, "elasticjob.original_task.id") != of(cut, "elasticjob.task.id") || again.SpanContext.TraceID() != cut.SpanContext.TraceID() {
			t.Errorf("links %v, attributes %v; want no link, the task id %s, and one trace", again.Links, again.Attributes, of(cut, "elasticjob.task.id"))
		}
	})
}

// What is run again of a trigger stands in the trace of the trigger.
func TestFailoverOfATrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		config := settleOne
		config.Cron = ""
		a := c.Process("10.0.0.1", r.options()...)
		a.Schedule(config, sleeps(30*time.Second))
		c.Advance(time.Second)
		c.Process("10.0.0.2", r.options()...).Schedule(config, sleeps(30*time.Second))
		c.Advance(1234 * time.Millisecond)
		if _, err := c.Ops().Job("settle").Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(10 * time.Second)
		a.Die()
		c.Advance(2 * time.Minute)
		cut, again := r.bySource(job.SourceManual), r.bySource(job.SourceFailover)
		requireLink(t, again, cut, "repeats")
		if n := len(r.named("trigger settle")); n != 2 || of(again, "faas.trigger") != "other" {
			t.Errorf("%d spans of the trigger, faas.trigger %q; want one for each process, and other", n, of(again, "faas.trigger"))
		}
	})
}

// A retry does not know the trigger of what has failed.
func TestRetryOfATriggerHasNoLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		config := settleOne
		config.Cron = ""
		c.Process("10.0.0.1", r.options()...).Schedule(config, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			return errors.New("no money")
		}))
		c.Advance(1234 * time.Millisecond)
		if _, err := c.Ops().Job("settle").Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(10 * time.Second)
		if _, err := c.Ops().Job("settle").Retry(t.Context(), ops.RetryRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(10 * time.Second)
		failed, again := r.bySource(job.SourceManual), r.bySource(job.SourceRetry)
		if len(again.Links) != 0 || of(again, "elasticjob.original_task.id") != of(failed, "elasticjob.task.id") {
			t.Errorf("links %v, attributes %v; want no link, and the task id %s", again.Links, again.Attributes, of(failed, "elasticjob.task.id"))
		}
	})
}
