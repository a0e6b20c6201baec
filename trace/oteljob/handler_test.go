package oteljob_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	jobtrace "github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
)

// What a handler begins stands below its execution.
func TestSpansOfTheHandlerJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		jobtest.Run(t, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			for _, name := range []string{"SELECT", "UPDATE"} {
				_, span := r.provider.Tracer("shop").Start(ctx, name)
				span.End()
			}
			return nil
		}), jobtest.Case{Config: job.Config{Name: "settle"}, Options: r.options()})
		run := r.one("run settle").SpanContext
		for _, name := range []string{"SELECT", "UPDATE"} {
			if s := r.one(name); s.Parent.SpanID() != run.SpanID() || s.SpanContext.TraceID() != run.TraceID() || s.SpanContext.SpanID() == run.SpanID() {
				t.Errorf("%s is %v below %v, want it below %v", name, s.SpanContext, s.Parent, run)
			}
		}
	})
}

// The sampler for roots decides for a tick, and all processes decide alike.
func TestSampling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.5))))
		c := jobtest.NewCluster(t)
		const ticks = 40
		for _, address := range []string{"10.0.0.1", "10.0.0.2"} {
			c.Process(address, r.options()...).Schedule(settle, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
				_, span := r.provider.Tracer("shop").Start(ctx, "child")
				span.End()
				return nil
			}))
		}
		c.Advance(ticks*5*time.Minute + 10*time.Second)
		traces := map[trace.TraceID]int{}
		for _, s := range r.exporter.GetSpans() {
			traces[s.SpanContext.TraceID()]++
		}
		for id, spans := range traces {
			if want := 2 + 2*settle.ShardingTotalCount; spans != want {
				t.Errorf("trace %s has %d spans, want all %d", id, spans, want)
			}
		}
		if len(traces) < ticks/5 || len(traces) > ticks*4/5 {
			t.Errorf("%d of %d ticks are sampled, want about half", len(traces), ticks)
		}
	})
}

// Without an SDK all this does nothing.
func TestWithoutAnSDK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer, err := oteljob.New(oteljob.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ran := false
		jobtest.Run(t, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			ran = !trace.SpanContextFromContext(ctx).IsValid()
			return nil
		}), jobtest.Case{Options: []job.Option{tracer.Option()}})
		if !ran {
			t.Error("the handler was not called, or has a span")
		}
	})
}

// panics is a sampler of the program.
type panics struct{}

func (panics) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult { panic("a bug") }
func (panics) Description() string                                              { return "panics" }

// What the program gives to the SDK may be wrong: jobs run on, without spans.
func TestSamplerThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, sdktrace.WithSampler(panics{}))
		c := jobtest.NewCluster(t)
		c.Process("10.0.0.1", r.options()...).Schedule(settle, sleeps(time.Second))
		c.Advance(5*time.Minute + 5*time.Second)
		if got := c.Executions().Outcome(job.OutcomeOK); got.Len() != settle.ShardingTotalCount || len(r.exporter.GetSpans()) != 0 {
			t.Errorf("%v, %d spans; want 4 that are OK, and none", got, len(r.exporter.GetSpans()))
		}
	})
}

func TestOtherJobsHaveNoSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		jobs, err := jobtrace.NewFilter(nil, []string{"heart*"})
		if err != nil {
			t.Fatal(err)
		}
		tracer, err := oteljob.New(oteljob.Options{TracerProvider: r.provider})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"heartbeat", "settle"} {
			jobtest.Run(t, sleeps(time.Second), jobtest.Case{Config: job.Config{Name: name}, Options: []job.Option{tracer.Only(jobs)}})
		}
		if list := r.exporter.GetSpans(); len(list) != 2 || len(r.named("run settle")) != 1 {
			t.Errorf("spans %v, want two of settle", list)
		}
	})
}

// A Tracer can stand in jobfile.Options.Tracing.
var _ interface {
	Only(jobtrace.Filter) job.Option
} = (*oteljob.Tracer)(nil)
