package oteljob

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// metrics are the instruments.
type metrics struct {
	due, madeUp, skipped, retries metric.Int64Counter
	late, duration                metric.Float64Histogram
}

func newMetrics(p metric.MeterProvider) (*metrics, error) {
	meter := p.Meter(scopeName, metric.WithSchemaURL(semconv.SchemaURL))
	var errs []error
	count := func(name, unit, what string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	seconds := func(name, what string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 3600))
		errs = append(errs, err)
		return h
	}
	m := &metrics{
		due:      count("elasticjob.tick.due", "{tick}", "Ticks that have come, by each instance of the job."),
		madeUp:   count("elasticjob.tick.made_up", "{tick}", "Ticks that were missed, and made up for."),
		skipped:  count("elasticjob.tick.skipped", "{tick}", "Ticks of items that nobody runs."),
		retries:  count("elasticjob.execution.retries", "{attempt}", "Attempts that have failed, after which another one came."),
		late:     seconds("elasticjob.execution.lateness", "From its tick, and the delay that the job allows, to the begin of an execution of the schedule."),
		duration: seconds("elasticjob.execution.duration", "How long executions took, with all attempts."),
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("oteljob: metrics: %w", err)
	}
	return m, nil
}

// started records how late an execution of the schedule begins. It and finished are called by
// the execution, with its context, so that the SDK can keep examples that lead to its trace.
func (m *metrics) started(ctx context.Context, e job.Event) {
	if e.Source == job.SourceNormal && m.late.Enabled(ctx) {
		m.late.Record(ctx, e.Late.Seconds(), with(e.JobName))
	}
}

func (m *metrics) finished(ctx context.Context, f job.Event) {
	if m.duration.Enabled(ctx) {
		m.duration.Record(ctx, f.Took.Seconds(), with(f.JobName, keySource.String(f.Source.String()), keyOutcome.String(f.Outcome.String())))
	}
}

// observer counts what belongs to no execution here.
func (m *metrics) observer() job.Observer {
	ctx := context.Background()
	return func(e job.Event) {
		switch e.Kind {
		case jobtype.EventDue:
			m.due.Add(ctx, int64(e.Count), with(e.JobName))
		case jobtype.EventRetried:
			m.retries.Add(ctx, 1, with(e.JobName))
		case jobtype.EventMadeUp:
			m.madeUp.Add(ctx, int64(e.Count), with(e.JobName))
		case jobtype.EventSkipped:
			m.skipped.Add(ctx, int64(e.Count), with(e.JobName, keyReason.String(e.Reason.String())))
		}
	}
}

func with(jobName string, more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(more, keyJob.String(jobName))...)
}
