package oteljob

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// begin is the [job.Scope]. If the span of the tick is not recorded, the execution has none: its
// context has that of the tick, so what the handler begins is not recorded either.
func (t *Tracer) begin(ctx context.Context, e job.Event) (within context.Context, told func(job.Event)) {
	x := &execution{Tracer: t, started: e, key: keyOf(e), span: noSpan}
	x.tick = t.ticks.enter(x.key)
	defer func() {
		if told == nil { // what the SDK has called has panicked
			x.leave(false)
		}
	}()
	x.tick.start.Do(func() { x.tick.span = t.startTick(ctx, x.key, e) })
	x.ctx = trace.ContextWithSpan(ctx, x.tick.span)
	if x.tick.span.IsRecording() {
		x.startItem()
	}
	t.metrics.started(x.ctx, e)
	return propagate(x.ctx, t.options.Propagator), x.tell
}

// execution is one that is under way.
type execution struct {
	*Tracer
	started job.Event
	key     tickKey
	tick    *tick
	ctx     context.Context // with the span; for examples of metrics
	span    trace.Span
}

// tell takes what becomes of the execution: failed attempts, and its end.
func (x *execution) tell(e job.Event) {
	if e.Kind == jobtype.EventRetried {
		x.retried(e)
		return
	}
	x.finished(e)
}

func (x *execution) retried(e job.Event) {
	if x.span.IsRecording() {
		x.span.AddEvent("retry", trace.WithAttributes(retryAttributes(e)...))
	}
}

func (x *execution) finished(e job.Event) {
	defer x.leave(isFailure(e.Outcome))
	x.metrics.finished(x.ctx, e)
	if x.span.IsRecording() {
		x.recent.add(e.JobName, e.Item, ended{x.span.SpanContext(), x.started.Time, e.Time})
		x.finish(e)
	}
}

// leave ends the span, whatever becomes of what was to be told to it.
func (x *execution) leave(failed bool) {
	defer x.ticks.leave(x.key, x.tick, failed)
	x.span.End()
}

// startTick starts the span of a tick. Its parent has the id of the trace, and no id of a span:
// so the SDK makes it a root of that trace, and asks the sampler for roots. The sampler sees some
// attributes only: what is not recorded should cost little.
func (t *Tracer) startTick(ctx context.Context, key tickKey, e job.Event) trace.Span {
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: key.trace(t.options.Namespace)})
	ctx = trace.ContextWithSpanContext(ctx, parent)
	_, span := t.tracer.Start(ctx, key.name(), trace.WithAttributes(keyJob.String(e.JobName), triggerOf(key.kind)))
	if !span.IsRecording() {
		return span
	}
	span.SetAttributes(keyInstance.String(e.InstanceID), keyTick.String(timeText(e.ScheduledTime)))
	if t.options.Namespace != "" {
		span.SetAttributes(keyNamespace.String(t.options.Namespace))
	}
	if e.RequestID != "" {
		span.SetAttributes(keyRequest.String(e.RequestID))
	}
	return span
}

// startItem starts the span of an execution.
func (x *execution) startItem() {
	e, id := x.started, spanOf(x.started.TaskID)
	x.ctx, x.span = x.tracer.Start(wishFor(x.ctx, id), "run "+e.JobName,
		trace.WithAttributes(keyJob.String(e.JobName), keyItem.Int(e.Item), keySource.String(e.Source.String())))
	if !x.span.IsRecording() {
		return
	}
	if x.span.SpanContext().SpanID() == id { // so the ids of others are known, too
		x.linkToOriginal()
	}
	if e.Source == job.SourceMisfire {
		x.linkToOverrun()
	}
}

func retryAttributes(r job.Event) []attribute.KeyValue {
	list := []attribute.KeyValue{keyAttempt.Int(r.Attempt), keyBackoff.Float64(r.Backoff.Seconds())}
	return append(list, exceptionOf(r.Err)...)
}

// isFailure reports whether an execution has failed. One that was cut short or killed has not:
// it is run again, or nobody wants it any more.
func isFailure(o job.Outcome) bool {
	return o == job.OutcomeFailed || o == job.OutcomePanic || o == job.OutcomeTimeout
}

// finish tells the span what the execution was and how it has ended: all at once, because the SDK
// copies the attributes each time when some are added.
func (x *execution) finish(f job.Event) {
	list := []attribute.KeyValue{
		keyInstance.String(f.InstanceID), keyTick.String(timeText(f.ScheduledTime)), triggerOf(x.key.kind),
		keyTask.String(f.TaskID), keyToken.Int64(f.Token), keyWaited.Float64(x.started.Waited.Seconds()),
		keyOutcome.String(f.Outcome.String()), keyAttempts.Int(f.Attempt),
	}
	if f.RequestID != "" {
		list = append(list, keyRequest.String(f.RequestID))
	}
	if f.OriginalTaskID != "" {
		list = append(list, keyOriginal.String(f.OriginalTaskID))
	}
	switch {
	case f.Err == nil:
	case isFailure(f.Outcome):
		list = append(list, errorType(f))
		x.span.SetStatus(codes.Error, textOf(f.Err))
		x.span.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(exceptionOf(f.Err)...))
	default:
		x.span.AddEvent("cut short", trace.WithAttributes(exceptionOf(f.Err)...))
	}
	x.span.SetAttributes(list...)
}
