package oteljob

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"

	"github.com/elasticjob-go/elasticjob/job"
)

// propagate hands what a propagator writes to the scripts and the HTTP requests of an
// execution: traceparent, tracestate and baggage, as a rule.
func propagate(ctx context.Context, by propagation.TextMapPropagator) context.Context {
	written := propagation.MapCarrier{}
	by.Inject(ctx, written)
	for name, value := range written {
		passed, err := job.Propagate(ctx, name, value)
		if err != nil {
			otel.Handle(err) // a baggage of more than 8 KiB, say: the execution goes on without it
			continue
		}
		ctx = passed
	}
	return ctx
}
