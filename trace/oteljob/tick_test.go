package oteljob_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

var settle = job.Config{Name: "settle", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, Failover: true}

func sleeps(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// The items of a tick stand in one trace, below one span for each process; the next tick has
// another trace.
func TestTickOfTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		for _, address := range []string{"10.0.0.1", "10.0.0.2"} {
			c.Process(address, r.options()...).Schedule(settle, sleeps(10*time.Second))
		}
		c.Advance(10*time.Minute + 30*time.Second)

		ticks, runs := r.named("tick settle"), r.named("run settle")
		if len(ticks) != 4 || len(runs) != 8 {
			t.Fatalf("%d spans of ticks and %d of executions, want 4 and 8", len(ticks), len(runs))
		}
		traces, parents := map[trace.TraceID]int{}, map[trace.SpanID]string{}
		for _, s := range ticks {
			if !isRoot(s) {
				t.Errorf("the span of a tick has the parent %s", s.Parent.SpanID())
			}
			if took := s.EndTime.Sub(s.StartTime); took != 10*time.Second || of(s, "elasticjob.executions") != "2" || of(s, "elasticjob.namespace") != "test" {
				t.Errorf("a tick of namespace %q has taken %v with %s executions, want test, 10 s and 2", of(s, "elasticjob.namespace"), took, of(s, "elasticjob.executions"))
			}
			parents[s.SpanContext.SpanID()] = of(s, "elasticjob.tick") + of(s, "elasticjob.instance.id")
		}
		for _, s := range runs {
			traces[s.SpanContext.TraceID()]++
			if of := of(s, "elasticjob.tick") + of(s, "elasticjob.instance.id"); parents[s.Parent.SpanID()] != of {
				t.Errorf("the execution of %s stands below %q", of, parents[s.Parent.SpanID()])
			}
		}
		if len(traces) != 2 {
			t.Errorf("executions for a trace: %v, want 4 in each of 2", traces)
		}
	})
}

// With one thread the items run one after the other: the span of the tick waits for them.
func TestTickOfItemsThatWaitForAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		config := settle
		config.Threads = 1
		in := c.Process("10.0.0.1", r.options()...)
		in.Schedule(config, sleeps(10*time.Second))
		c.Advance(5*time.Minute + 50*time.Second)
		s := r.one("tick settle")
		if took := s.EndTime.Sub(s.StartTime); took < 40*time.Second || took > 41*time.Second || of(s, "elasticjob.executions") != "4" {
			t.Errorf("%v with %s executions, want 40 s with 4", took, of(s, "elasticjob.executions"))
		}
	})
}

// Whoever shuts the TracerProvider down after the scheduler loses no span.
func TestShutdownEndsTheSpansOfTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		in := c.Process("10.0.0.1", r.options()...)
		in.Schedule(settle, sleeps(10*time.Second))
		c.Advance(5*time.Minute + 5*time.Second)
		began := time.Now()
		if err := in.Shutdown(time.Minute); err != nil {
			t.Fatal(err)
		}
		s := r.one("tick settle")
		if left := time.Since(s.EndTime); left < 0 || time.Since(began) > 6*time.Second {
			t.Errorf("the span has ended %v ago, the shutdown has taken %v", left, time.Since(began))
		}
	})
}

// A handler that ignores its context is in its span until it returns.
func TestHandlerThatOutlivesItsShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		in := c.Process("10.0.0.1", r.options()...)
		config := settle
		config.ShardingTotalCount = 1
		in.Schedule(config, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			time.Sleep(time.Minute)
			return errors.New("too late")
		}))
		c.Advance(5*time.Minute + 5*time.Second)
		_ = in.Shutdown(time.Second) // it says that a handler still runs
		if list := r.exporter.GetSpans(); len(list) != 0 {
			t.Fatalf("spans have ended before the handler: %v", list)
		}
		c.Advance(time.Minute)
		if s := r.one("run settle"); of(s, "elasticjob.outcome") != "CUT" || s.EndTime.Sub(s.StartTime) != time.Minute {
			t.Errorf("outcome %s after %v, want CUT after a minute", of(s, "elasticjob.outcome"), s.EndTime.Sub(s.StartTime))
		}
		if s := r.one("tick settle"); s.EndTime.Sub(s.StartTime) != time.Minute || s.Status.Code != codes.Unset {
			t.Errorf("the tick has ended after %v with %v, want a minute and unset", s.EndTime.Sub(s.StartTime), s.Status)
		}
	})
}

func TestTickOfWhichItemsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		c.Process("10.0.0.1", r.options()...).Schedule(settle, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 2 {
				return errors.New("no money")
			}
			return nil
		}))
		c.Advance(5*time.Minute + 5*time.Second)
		want := sdktrace.Status{Code: codes.Error, Description: "1 of 4 executions failed here"}
		if s := r.one("tick settle"); s.Status != want || of(s, "elasticjob.executions.failed") != "1" {
			t.Errorf("status %v, want %v", s.Status, want)
		}
	})
}

// Spans of a trigger stand in a trace of its own, whichever process runs the items.
func TestTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		config := settle
		config.Cron = ""
		for _, address := range []string{"10.0.0.1", "10.0.0.2"} {
			c.Process(address, r.options()...).Schedule(config, sleeps(time.Second))
		}
		c.Advance(time.Second)
		result, err := c.Ops().Job("settle").Trigger(t.Context(), job.TriggerRequest{})
		if err != nil {
			t.Fatal(err)
		}
		c.Advance(5 * time.Second)
		runs := r.named("run settle")
		if len(runs) != 4 || len(r.named("trigger settle")) != 2 {
			t.Fatalf("spans %v, want 4 below 2", r.exporter.GetSpans())
		}
		for _, s := range runs {
			if s.SpanContext.TraceID() != runs[0].SpanContext.TraceID() || of(s, "elasticjob.request.id") != result.ID || of(s, "faas.trigger") != "other" {
				t.Errorf("trace %s, attributes %v: want trace %s and request %s", s.SpanContext.TraceID(), s.Attributes, runs[0].SpanContext.TraceID(), result.ID)
			}
		}
	})
}
