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
	c := carrier{ctx}
	by.Inject(ctx, &c)
	return c.ctx
}

// carrier is a [propagation.TextMapCarrier] whose texts go along with a context.
type carrier struct{ ctx context.Context }

// Set writes a text. What [job.Propagate] refuses is left out, and OpenTelemetry's error handler is
// told: a name with a dot, say.
func (c *carrier) Set(name, value string) {
	ctx, err := job.Propagate(c.ctx, name, value)
	if err != nil {
		otel.Handle(err)
		return
	}
	c.ctx = ctx
}

// Get returns a text that goes along; "" if there is none of that name.
func (c *carrier) Get(name string) string {
	for n, value := range job.Propagated(c.ctx) {
		if n == name {
			return value
		}
	}
	return ""
}

// Keys returns the names of what goes along.
func (c *carrier) Keys() (names []string) {
	for name := range job.Propagated(c.ctx) {
		names = append(names, name)
	}
	return names
}
