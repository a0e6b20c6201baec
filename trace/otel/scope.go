package oteljob

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	jobtrace "github.com/elasticjob-go/elasticjob/trace"
)

// spans makes the spans of the executions of this process.
type spans struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	namespace  string
	jobs       jobtrace.Filter
	metrics    *metrics
	ticks      ticks
	recent     recent
}

func newSpans(o Options, m *metrics) *spans {
	return &spans{
		tracer:     o.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		propagator: o.Propagator,
		namespace:  o.Namespace,
		jobs:       o.Jobs,
		metrics:    m,
		ticks:      ticks{open: map[tickKey]*tick{}},
		recent:     recent{jobs: map[string]map[int]ended{}},
	}
}

// observer is told when an instance leaves: then the spans of its ticks end, so that a program
// that shuts its TracerProvider down after the scheduler loses none.
func (s *spans) observer() job.Observer {
	return job.Observer{Left: func(e job.LeftEvent) {
		s.ticks.close(e.JobName)
		s.recent.forget(e.JobName)
	}}
}

// begin is the [job.Scope]. If the span of the tick is not recorded, the execution has none: its
// context has that of the tick, so what the handler begins is not recorded either.
func (s *spans) begin(ctx context.Context, e job.StartedEvent) (within context.Context, end job.ScopeEnd) {
	if !s.jobs.Has(e.JobName) {
		return ctx, end
	}
	x := &execution{spans: s, started: e, key: keyOf(e), span: noSpan}
	x.tick = s.ticks.enter(x.key)
	defer func() {
		if end.Finished == nil { // what the SDK has called has panicked
			x.leave(false)
		}
	}()
	x.tick.start.Do(func() { x.tick.span = s.startTick(ctx, x.key, e) })
	x.ctx = trace.ContextWithSpan(ctx, x.tick.span)
	if x.tick.span.IsRecording() {
		x.ctx, x.span = s.startItem(x.ctx, e)
	}
	s.metrics.started(x.ctx, e)
	return propagate(x.ctx, s.propagator), job.ScopeEnd{Retried: x.retried, Finished: x.finished}
}

// execution is one that is under way.
type execution struct {
	*spans
	started job.StartedEvent
	key     tickKey
	tick    *tick
	ctx     context.Context // with the span; for examples of metrics
	span    trace.Span
}

func (x *execution) retried(e job.RetriedEvent) {
	if x.span.IsRecording() {
		x.span.AddEvent("retry", trace.WithAttributes(retryAttributes(e)...))
	}
}

func (x *execution) finished(e job.FinishedEvent) {
	defer x.leave(isFailure(e.Outcome))
	x.metrics.finished(x.ctx, e)
	if x.span.IsRecording() {
		x.recent.add(e.JobName, e.Item, ended{x.span.SpanContext(), x.started.Time, e.Time})
		finish(x.span, e)
	}
}

// leave ends the span, whatever becomes of what was to be told to it.
func (x *execution) leave(failed bool) {
	defer x.ticks.leave(x.key, x.tick, failed)
	x.span.End()
}

// startTick starts the span of a tick. Its parent has the id of the trace, and no id of a span:
// so the SDK makes it a root of that trace, and asks the sampler for roots.
func (s *spans) startTick(ctx context.Context, key tickKey, e job.StartedEvent) trace.Span {
	list := []attribute.KeyValue{
		keyJob.String(e.JobName), keyInstance.String(e.InstanceID), keyTick.String(timeText(e.ScheduledTime)), triggerOf(e.Source),
	}
	if s.namespace != "" {
		list = append(list, keyNamespace.String(s.namespace))
	}
	if e.RequestID != "" {
		list = append(list, keyRequest.String(e.RequestID))
	}
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: key.trace(s.namespace)})
	_, span := s.tracer.Start(trace.ContextWithSpanContext(ctx, parent), key.name(), trace.WithAttributes(list...))
	return span
}

// startItem starts the span of an execution.
func (s *spans) startItem(ctx context.Context, e job.StartedEvent) (context.Context, trace.Span) {
	id := spanOf(e.TaskID)
	ctx, span := s.tracer.Start(wishFor(ctx, id), "run "+e.JobName, trace.WithAttributes(itemAttributes(e)...))
	if !span.IsRecording() {
		return ctx, span
	}
	if isLinked := span.SpanContext().SpanID() == id; isLinked && e.OriginalTaskID != "" && !isOfTrigger(e) {
		repeated := trace.NewSpanContext(trace.SpanContextConfig{TraceID: span.SpanContext().TraceID(), SpanID: spanOf(e.OriginalTaskID), TraceFlags: trace.FlagsSampled, Remote: true})
		span.AddLink(trace.Link{SpanContext: repeated, Attributes: []attribute.KeyValue{keyLink.String("repeats"), keyTask.String(e.OriginalTaskID)}})
	}
	if e.Source == job.SourceMisfire {
		if r, ok := s.recent.during(e.JobName, e.Item, e.ScheduledTime); ok {
			span.AddLink(trace.Link{SpanContext: r.span, Attributes: []attribute.KeyValue{keyLink.String("ran when the tick came")}})
		}
	}
	return ctx, span
}

// isOfTrigger reports whether an execution after a failover repeats a triggered one, as far as
// can be known: the time of a trigger is hardly ever a whole second, and that of a tick always is.
func isOfTrigger(e job.StartedEvent) bool {
	return e.Source == job.SourceFailover && e.ScheduledTime.Nanosecond() != 0
}

func itemAttributes(e job.StartedEvent) []attribute.KeyValue {
	list := []attribute.KeyValue{
		keyJob.String(e.JobName), keyInstance.String(e.InstanceID), keyTick.String(timeText(e.ScheduledTime)), triggerOf(e.Source),
		keyItem.Int(e.Item), keySource.String(e.Source.String()), keyTask.String(e.TaskID),
		keyToken.Int64(e.Token), keyWaited.Float64(e.Waited.Seconds()),
	}
	if e.RequestID != "" {
		list = append(list, keyRequest.String(e.RequestID))
	}
	if e.OriginalTaskID != "" {
		list = append(list, keyOriginal.String(e.OriginalTaskID))
	}
	return list
}

func retryAttributes(r job.RetriedEvent) []attribute.KeyValue {
	list := []attribute.KeyValue{keyAttempt.Int(r.Attempt), keyBackoff.Float64(r.Backoff.Seconds())}
	return append(list, exceptionOf(r.Err)...)
}

// isFailure reports whether an execution has failed. One that was cut short or killed has not:
// it is run again, or nobody wants it any more.
func isFailure(o job.Outcome) bool {
	return o == job.OutcomeFailed || o == job.OutcomePanic || o == job.OutcomeTimeout
}

// finish tells a span how its execution has ended.
func finish(span trace.Span, f job.FinishedEvent) {
	span.SetAttributes(keyOutcome.String(f.Outcome.String()), keyAttempts.Int(f.Attempts))
	if f.Err == nil {
		return
	}
	exception := exceptionOf(f.Err)
	if !isFailure(f.Outcome) {
		span.AddEvent("cut short", trace.WithAttributes(exception...))
		return
	}
	span.SetAttributes(errorType(f))
	span.SetStatus(codes.Error, textOf(f.Err))
	span.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(exception...))
}

// ended is the last execution of an item in this process that was recorded.
type ended struct {
	span     trace.SpanContext
	from, to time.Time
}

// recent has, for each item of each job that runs here, its last execution.
type recent struct {
	mu   sync.Mutex
	jobs map[string]map[int]ended
}

func (r *recent) add(job string, item int, l ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs[job] == nil {
		r.jobs[job] = map[int]ended{}
	}
	r.jobs[job][item] = l
}

// during returns the last execution of an item if it was under way at that time.
func (r *recent) during(job string, item int, at time.Time) (ended, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.jobs[job][item]
	return l, ok && !at.Before(l.from) && !at.After(l.to)
}

// forget forgets a job whose instance has left.
func (r *recent) forget(job string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, job)
}
