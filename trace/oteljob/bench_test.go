package oteljob

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// forgets is a processor that does nothing, so that the exporter does not count.
type forgets struct{}

func (forgets) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (forgets) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (forgets) Shutdown(context.Context) error                  { return nil }
func (forgets) ForceFlush(context.Context) error                { return nil }

// What a span costs in any case, to compare with.
func BenchmarkSpanOfTheSDK(b *testing.B) {
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(forgets{})).Tracer("bench")
	b.ReportAllocs()
	for b.Loop() {
		_, span := tracer.Start(b.Context(), "run settle", trace.WithAttributes(keyJob.String("settle"), keyItem.Int(1)))
		span.End()
	}
}

// What an execution pays: all that is done before and after its handler.
func BenchmarkExecution(b *testing.B) {
	sampled := func(s sdktrace.Sampler) Options {
		return Options{
			TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithIDGenerator(IDs{}), sdktrace.WithSpanProcessor(forgets{})),
			Namespace:      "bench",
		}
	}
	withPropagator := func(o Options) Options {
		o.Propagator = propagation.TraceContext{}
		return o
	}
	withMetrics := func(o Options) Options {
		o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
		return o
	}
	for _, tc := range []struct {
		name string
		Options
	}{
		{"no SDK", Options{}},
		{"not sampled", sampled(sdktrace.NeverSample())},
		{"not sampled, propagator", withPropagator(sampled(sdktrace.NeverSample()))},
		{"sampled", sampled(sdktrace.AlwaysSample())},
		{"sampled, propagator", withPropagator(sampled(sdktrace.AlwaysSample()))},
		{"sampled, propagator, metrics", withMetrics(withPropagator(sampled(sdktrace.AlwaysSample())))},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s, err := New(tc.Options)
			if err != nil {
				b.Fatal(err)
			}
			tick := time.Now()
			defer s.ticks.close("settle")
			event := job.Event{
				Kind: jobtype.EventStarted, Time: tick, JobName: "settle", InstanceID: "10.0.0.1@-@1-0123456789ab",
				Execution: job.Execution{TaskID: "0197a2b0-0000-7000-8000-000000000000", Source: job.SourceNormal, Token: 1, ScheduledTime: tick},
			}
			ended := event
			ended.Kind, ended.Outcome, ended.Attempt = jobtype.EventFinished, job.OutcomeOK, 1
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				event.Item, event.ScheduledTime = i%10, tick.Add(time.Duration(i/10)*time.Second) // ten items a tick
				_, end := s.begin(b.Context(), event)
				ended.Item, ended.ScheduledTime = event.Item, event.ScheduledTime
				end(ended)
			}
		})
	}
}
