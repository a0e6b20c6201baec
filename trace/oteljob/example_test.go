package oteljob_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
)

// A job of two items runs once. Its handler makes a span of its own, below that of its item.
func Example() {
	ctx := context.Background()
	exporter := tracetest.NewInMemoryExporter() // in a program: otlptracegrpc.New, say, and WithBatcher
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithIDGenerator(oteljob.IDs{}))
	tracer, err := oteljob.New(oteljob.Options{TracerProvider: provider, Namespace: "billing", Propagator: propagation.TraceContext{}})
	if err != nil {
		fmt.Println(err)
		return
	}

	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"}) // etcd.Dial or zk.Dial
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 2},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			_, span := provider.Tracer("billing").Start(ctx, "pay")
			defer span.End()
			return nil
		}), tracer.Option())
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := s.Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := result.Wait(ctx); err != nil {
		fmt.Println(err)
	}
	if err := s.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	traces := map[string]bool{}
	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name)
		traces[s.SpanContext.TraceID().String()] = true
	}
	fmt.Println(len(traces), "trace")
	// Unordered output:
	// pay
	// pay
	// run settle
	// run settle
	// trigger settle
	// 1 trace
}
