//go:build unix

package oteljob_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
)

// withBaggage is a scope of a program that has a baggage.
func withBaggage(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
	b, err := baggage.Parse("tenant=acme")
	if err != nil {
		return ctx, nil
	}
	return baggage.ContextWithBaggage(ctx, b), nil
}

// A script finds the span of its execution in its environment.
func TestScriptGetsTraceparent(t *testing.T) {
	r := newRig(t)
	scripts, err := script.New(supervisor, script.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := jobtest.Run(t, job.OfType(script.Name, scripts), jobtest.Case{
		Config: job.Config{Name: "settle", Props: map[string]string{
			"script.command.line": `/bin/sh -c 'echo "$TRACEPARENT $BAGGAGE"'`,
		}},
		Options: append([]job.Option{job.WithScope(withBaggage)}, r.options()...),
	})
	requireParent(t, r, strings.TrimSpace(string(result.Output)))
}

// A server finds it in the headers of its request.
func TestHTTPGetsTraceparent(t *testing.T) {
	r := newRig(t)
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Connection", "close")
		got <- req.Header.Get("traceparent") + " " + req.Header.Get("baggage")
	}))
	defer server.Close()
	jobtest.Run(t, job.OfType(httpjob.Name, httpjob.New(httpjob.Options{})), jobtest.Case{
		Config:  job.Config{Name: "settle", Props: map[string]string{"http.url": server.URL, "http.method": "GET"}},
		Options: append([]job.Option{job.WithScope(withBaggage)}, r.options()...),
	})
	requireParent(t, r, <-got)
}

func requireParent(t *testing.T, r *rig, got string) {
	t.Helper()
	span := r.one("run settle").SpanContext
	if want := "00-" + span.TraceID().String() + "-" + span.SpanID().String() + "-01 tenant=acme"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is not sampled is passed on as not sampled, so that nobody else samples it.
func TestWhatIsNotSampledIsPassedOn(t *testing.T) {
	r := newRigWith(t, sdktrace.WithSampler(sdktrace.NeverSample()))
	var got string
	jobtest.Run(t, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
		for name, value := range job.Propagated(ctx) {
			if name == "traceparent" {
				got = value
			}
		}
		return nil
	}), jobtest.Case{Options: r.options()})
	if !strings.HasSuffix(got, "-00") || len(r.exporter.GetSpans()) != 0 {
		t.Errorf("traceparent %q, %d spans; want one that ends with -00, and none", got, len(r.exporter.GetSpans()))
	}
}

// odd is a propagator that writes what no header can have.
type odd struct{ propagation.TraceContext }

func (o odd) Inject(ctx context.Context, to propagation.TextMapCarrier) {
	to.Set("a name", "x")
	to.Set("good", "x")
	o.TraceContext.Inject(ctx, to)
	if to.Get("good") != "x" || !slices.Equal(to.Keys(), []string{"good", "traceparent"}) {
		panic("the carrier does not have what was written")
	}
}

// What a program's propagator writes wrongly is left out, and told to OpenTelemetry's error handler.
func TestPropagatorThatWritesWrongly(t *testing.T) {
	told := make(chan error, 1)
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told <- err }))
	defer otel.SetErrorHandler(before)
	r := newRig(t)
	tracer, err := oteljob.New(oteljob.Options{TracerProvider: r.provider, Propagator: odd{}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	jobtest.Run(t, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
		for name := range job.Propagated(ctx) {
			got = append(got, name)
		}
		return nil
	}), jobtest.Case{Options: []job.Option{tracer.Option()}})
	if !slices.Equal(got, []string{"good", "traceparent"}) || !strings.Contains((<-told).Error(), `"a name"`) {
		t.Errorf("%q goes along, want good and traceparent, and an error that says the name", got)
	}
}
