package oteljob

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// traced is a tracer, and the spans that have ended.
type traced struct {
	*Tracer
	ended *tracetest.SpanRecorder
}

func newTraced(t *testing.T, s sdktrace.Sampler) traced {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	tracer, err := New(Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(s))})
	if err != nil {
		t.Fatal(err)
	}
	return traced{tracer, recorder}
}

// begins begins an execution for a tick, and returns what ends it.
func (d traced) begins(t *testing.T) func() {
	t.Helper()
	event := job.Event{Kind: jobtype.EventStarted, JobName: "settle", Execution: job.Execution{Source: job.SourceNormal, ScheduledTime: time.Unix(0, 0)}}
	_, end := d.begin(t.Context(), event)
	event.Kind, event.Outcome = jobtype.EventFinished, job.OutcomeOK
	return func() { end(event) }
}

// requireTicks checks how many spans of ticks have ended, and how many ticks are known.
func (d traced) requireTicks(t *testing.T, when string, ended, open int) {
	t.Helper()
	synctest.Wait()
	n := 0
	for _, s := range d.ended.Ended() {
		if s.Name() == "tick settle" {
			n++
		}
	}
	if n != ended || len(d.ticks.open) != open {
		t.Errorf("%s: %d ticks have ended and %d are open, want %d and %d", when, n, len(d.ticks.open), ended, open)
	}
}

func TestTickLingers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTraced(t, sdktrace.AlwaysSample())
		d.begins(t)()
		pass(linger / 2)
		d.requireTicks(t, "half of its time later", 0, 1)
		d.begins(t)()
		pass(linger * 3 / 4)
		d.requireTicks(t, "when something ran in between", 0, 1)
		end := d.begins(t)
		pass(2 * linger)
		d.requireTicks(t, "while something runs", 0, 1)
		for key, in := range d.ticks.open {
			d.ticks.expire(key, in) // a timer that was too late to be stopped
		}
		d.requireTicks(t, "after a timer that was late", 0, 1)
		end()
		pass(linger)
		d.requireTicks(t, "when its time is over", 1, 0)
	})
}

func TestTickEndsAtOnceWhenTheInstanceHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTraced(t, sdktrace.AlwaysSample())
		d.begins(t)()
		end := d.begins(t)
		d.left(job.Event{JobName: "another"})
		d.left(job.Event{JobName: "settle"})
		d.requireTicks(t, "while something runs", 0, 1)
		if len(d.recent.jobs) != 0 {
			t.Errorf("executions of a job that was left are remembered: %v", d.recent.jobs)
		}
		end()
		d.requireTicks(t, "at once", 1, 0)
	})
}

// What is not recorded, or could not be begun, leaves nothing behind.
func TestTickWithoutASpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTraced(t, sdktrace.NeverSample())
		d.begins(t)()
		d.requireTicks(t, "not sampled", 0, 0)
	})
	synctest.Test(t, func(t *testing.T) {
		d := newTraced(t, sampler(func(sdktrace.SamplingParameters) sdktrace.SamplingResult { panic(errors.New("a bug")) }))
		func() {
			defer func() { _ = recover() }() // as a scheduler does
			d.begins(t)
		}()
		d.requireTicks(t, "a sampler that panics", 0, 0)
	})
}

type sampler func(sdktrace.SamplingParameters) sdktrace.SamplingResult

func (s sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult { return s(p) }
func (sampler) Description() string                                                  { return "of a test" }

// What an execution repeats is in the same trace.
func TestKeyOf(t *testing.T) {
	tick, moment := time.Unix(1_000, 0), time.Unix(1_000, 234_000_000)
	for _, tc := range []struct {
		name string
		job.Execution
		want tickKey
	}{
		{"tick", job.Execution{Source: job.SourceNormal, ScheduledTime: tick}, tickKey{"settle", job.SourceNormal, 1_000_000, ""}},
		{"make-up", job.Execution{Source: job.SourceMisfire, ScheduledTime: tick}, tickKey{"settle", job.SourceNormal, 1_000_000, ""}},
		{"failover", job.Execution{Source: job.SourceFailover, ScheduledTime: tick}, tickKey{"settle", job.SourceNormal, 1_000_000, ""}},
		{"trigger", job.Execution{Source: job.SourceManual, ScheduledTime: moment, RequestID: "1"}, tickKey{"settle", job.SourceManual, 0, "1"}},
		{"trigger at a whole second", job.Execution{Source: job.SourceManual, ScheduledTime: tick, RequestID: "1"}, tickKey{"settle", job.SourceManual, 0, "1"}},
		{"its failover", job.Execution{Source: job.SourceFailover, ScheduledTime: moment, RequestID: "1"}, tickKey{"settle", job.SourceManual, 0, "1"}},
		{"retry", job.Execution{Source: job.SourceRetry, ScheduledTime: tick, RequestID: "2"}, tickKey{"settle", job.SourceRetry, 1_000_000, ""}},
		{"its failover", job.Execution{Source: job.SourceFailover, ScheduledTime: tick, RequestID: "2"}, tickKey{"settle", job.SourceNormal, 1_000_000, ""}},
		{"backfill", job.Execution{Source: job.SourceBackfill, ScheduledTime: tick, RequestID: "3"}, tickKey{"settle", job.SourceBackfill, 1_000_000, ""}},
	} {
		if got := keyOf(job.Event{JobName: "settle", Execution: tc.Execution}); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestDuring(t *testing.T) {
	r := recent{jobs: map[string]map[int]ended{}}
	from := time.Unix(1_000, 0)
	r.add("settle", 3, ended{from: from.Add(-time.Hour), to: from.Add(-time.Minute)})
	r.add("settle", 3, ended{from: from, to: from.Add(time.Minute)})
	for at, want := range map[time.Duration]bool{-1: false, 0: true, time.Minute: true, time.Minute + 1: false, -2 * time.Minute: false} {
		if _, got := r.during("settle", 3, from.Add(at)); got != want {
			t.Errorf("%v after its begin it was under way: %v, want %v", at, got, want)
		}
	}
	if _, ok := r.during("settle", 4, from); ok {
		t.Error("an item that has not run was under way")
	}
}

// pass lets time pass, and waits until nothing is left to be done then. Outside of a bubble it panics.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
