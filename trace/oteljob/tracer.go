package oteljob

import (
	"context"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	jobtrace "github.com/elasticjob-go/elasticjob/trace"
)

// scopeName names what makes the spans and the metrics.
const scopeName = "github.com/elasticjob-go/elasticjob/trace/oteljob"

// Tracer makes spans and metrics of what the jobs of a process do. It has nothing to close:
// shut the providers down after the jobs.
type Tracer struct {
	options Options
	tracer  trace.Tracer
	metrics *metrics
	ticks   ticks
	recent  recent
}

// New returns a tracer.
//
// Errors: an instrument that the MeterProvider refuses.
func New(o Options) (*Tracer, error) {
	o = o.withDefaults()
	m, err := newMetrics(o.MeterProvider)
	if err != nil {
		return nil, err
	}
	return &Tracer{
		options: o,
		tracer:  o.TracerProvider.Tracer(scopeName, trace.WithSchemaURL(semconv.SchemaURL)),
		metrics: m,
		ticks:   ticks{open: map[tickKey]*tick{}},
		recent:  recent{jobs: map[string]map[int]ended{}},
	}, nil
}

// Option makes a job, or all jobs of a node, tell the tracer what happens. A job that gets it twice,
// from its node, too, has one span for each execution all the same.
func (t *Tracer) Option() job.Option { return job.Options(t, t.Only(jobtrace.Filter{})) }

// Only is Option for the jobs of a filter. So a Tracer can stand in jobfile.Options.Tracing, too. A job
// that gets several of them has as many spans.
func (t *Tracer) Only(f jobtrace.Filter) job.Option {
	return job.Options(nil,
		job.WithScope(func(ctx context.Context, e job.Event) (context.Context, func(job.Event)) {
			if !f.Has(e.JobName) {
				return ctx, nil
			}
			ctx, told := t.begin(ctx, e)
			if h := t.options.Log; h != nil {
				ctx = job.LogTo(ctx, linesOf(ctx, e, h))
			}
			return ctx, told
		}),
		job.WithObserver(jobtrace.Only(f, jobtrace.Join(t.metrics.observer(), func(e job.Event) {
			if e.Kind == jobtype.EventLeft {
				t.left(e)
			}
		}))),
	)
}

// left ends the spans of the ticks of an instance that leaves: so a program that shuts its
// TracerProvider down after the jobs loses none.
func (t *Tracer) left(e job.Event) {
	t.ticks.close(e.JobName)
	t.recent.forget(e.JobName)
}
