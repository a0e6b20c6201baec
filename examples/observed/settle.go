package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
)

// settler is the work: it takes a moment, and the bank of one city does not always answer.
type settler struct{ tracer trace.Tracer }

var errBank = errors.New("the bank does not answer")

func (s settler) Execute(ctx context.Context, sc job.ShardingContext) error {
	ctx, span := s.tracer.Start(ctx, "pay "+sc.ItemParameter) // below the span of the execution
	defer span.End()
	job.Logger(ctx).Info("pays", "city", sc.ItemParameter, "attempt", sc.Attempt)
	select {
	case <-time.After(time.Duration(rand.IntN(300)) * time.Millisecond):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if sc.ItemParameter == "Guangzhou" && rand.IntN(2) == 0 {
		return errBank
	}
	return nil
}

// printer is an exporter that prints a line for each span. A service has OTLP's.
type printer struct{ to io.Writer }

// ExportSpans prints spans that have ended. The SDK calls it once at a time.
func (p *printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		_, err := fmt.Fprintf(p.to, "span %s in trace %.8s… took %v %s\n", s.Name(), s.SpanContext().TraceID(), s.EndTime().Sub(s.StartTime()).Round(time.Millisecond), s.Status().Description)
		if err != nil {
			return err
		}
	}
	return nil
}

// Shutdown has nothing to do.
func (p *printer) Shutdown(context.Context) error { return nil }
