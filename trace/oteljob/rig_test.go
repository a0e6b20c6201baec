package oteljob_test

import (
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
)

// rig has the spans that have ended.
type rig struct {
	t        *testing.T
	exporter *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigWith(t, sdktrace.WithIDGenerator(oteljob.IDs{}))
}

func newRigWith(t *testing.T, opts ...sdktrace.TracerProviderOption) *rig {
	t.Helper()
	r := &rig{t: t, exporter: tracetest.NewInMemoryExporter()}
	r.provider = sdktrace.NewTracerProvider(append(opts, sdktrace.WithSyncer(r.exporter))...)
	return r
}

// options are those of a process. Each makes its spans by itself, as different processes do.
func (r *rig) options() []job.Option {
	r.t.Helper()
	tracer, err := oteljob.New(oteljob.Options{
		TracerProvider: r.provider, Namespace: "test",
		Propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return []job.Option{tracer.Option(), tracer.Option()} // a job has it once
}

// named returns the spans of a name, in the order in which they have ended.
func (r *rig) named(name string) []tracetest.SpanStub {
	return slices.DeleteFunc(r.exporter.GetSpans(), func(s tracetest.SpanStub) bool { return s.Name != name })
}

// one returns the only span of a name.
func (r *rig) one(name string) tracetest.SpanStub {
	r.t.Helper()
	list := r.named(name)
	if len(list) != 1 {
		r.t.Fatalf("%d spans are named %q, want 1: %v", len(list), name, r.exporter.GetSpans())
	}
	return list[0]
}

// of returns an attribute of a span as text; "" if it has none.
func of(s tracetest.SpanStub, key string) string { return textIn(s.Attributes, key) }

func textIn(list []attribute.KeyValue, key string) string {
	for _, kv := range list {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

func isRoot(s tracetest.SpanStub) bool { return s.Parent.SpanID() == (trace.SpanID{}) }
