package oteljob

import (
	"log/slog"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Options say where spans and metrics go. The zero Options use what the program has set as
// OpenTelemetry's global ones.
type Options struct {
	// TracerProvider makes the spans. Default: otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics. Default: otel.GetMeterProvider(). There are none with the
	// provider of go.opentelemetry.io/otel/metric/noop.
	MeterProvider metric.MeterProvider
	// Propagator writes what scripts and HTTP requests get. Default:
	// otel.GetTextMapPropagator(), which writes nothing unless the program has set another one.
	Propagator propagation.TextMapPropagator
	// Namespace is that of the registry. It is a part of the ids of traces: without it, jobs of
	// one name in two namespaces would share traces.
	Namespace string
	// Log gets the lines that handlers write with job.Logger, and what scripts print, each with
	// a context that has the span: what bridges log/slog to OpenTelemetry, say. Default: none.
	Log slog.Handler
}

// withDefaults returns the options with what was left out.
func (o Options) withDefaults() Options {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Propagator == nil {
		o.Propagator = otel.GetTextMapPropagator()
	}
	return o
}
