package oteljob

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
)

// linger is how long the span of a tick stays open after its last execution here has ended,
// because another one may begin: one that has waited for a thread. The span ends with the last
// execution all the same.
const linger = time.Second

// ticks are the ticks, triggers and other requests of which executions run in this process, or
// did within the last second. Each has one span.
type ticks struct {
	mu   sync.Mutex
	open map[tickKey]*tick
}

// tickKey names a tick in this process.
type tickKey struct {
	job string
	// kind is why it runs: a retry and a backfill of a tick have spans of their own. All that the
	// schedule runs for a tick is SourceNormal.
	kind    job.Source
	at      int64  // the scheduled time, in milliseconds since 1970 as in the tree; 0 for a trigger
	request string // of a trigger
}

func keyOf(e job.Event) tickKey {
	switch {
	case isTrigger(e):
		return tickKey{job: e.JobName, kind: job.SourceManual, request: e.RequestID}
	case e.Source != job.SourceRetry && e.Source != job.SourceBackfill:
		e.Source = job.SourceNormal
	}
	return tickKey{job: e.JobName, kind: e.Source, at: e.ScheduledTime.UnixMilli()}
}

// isTrigger reports whether a trigger is the reason for an execution; of one after a failover, as
// far as can be known: then its time is that of the trigger.
func isTrigger(e job.Event) bool {
	return e.RequestID != "" && (e.Source == job.SourceManual || e.Source == job.SourceFailover && !isTick(e.ScheduledTime))
}

// isTick reports whether a time may be one of a schedule. Those are whole seconds; that of a
// trigger hardly ever is one.
func isTick(t time.Time) bool { return t.Nanosecond() == 0 }

// trace returns the id of the trace that it has in all processes. What runs for a tick stands in
// the trace of that tick, however late it runs; a trigger has one of its own.
func (k tickKey) trace(namespace string) trace.TraceID {
	if k.request != "" {
		return TraceOfTrigger(namespace, k.job, k.request)
	}
	return TraceOfTick(namespace, k.job, time.UnixMilli(k.at))
}

// name is that of the span.
func (k tickKey) name() string {
	switch k.kind {
	case job.SourceManual:
		return "trigger " + k.job
	case job.SourceRetry:
		return "retry " + k.job
	case job.SourceBackfill:
		return "backfill " + k.job
	}
	return "tick " + k.job
}

// noSpan records nothing.
var noSpan = trace.SpanFromContext(context.Background())

type tick struct {
	start sync.Once // starts the span, outside of the lock: what the SDK calls may be slow
	span  trace.Span

	// Under the lock of ticks.
	running, executions, failed int
	ended                       time.Time   // when an execution ended last
	timer                       *time.Timer // ends the span; nil until nothing runs for the first time
	last                        bool        // nothing more begins: the instance has left
}

// enter returns the tick of an execution that begins.
func (t *ticks) enter(key tickKey) *tick {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.open[key]
	if in == nil {
		in = &tick{span: noSpan}
		t.open[key] = in
	}
	if in.timer != nil {
		in.timer.Stop()
	}
	in.running++
	in.executions++
	return in
}

// leave takes in that an execution of a tick has ended.
func (t *ticks) leave(key tickKey, in *tick, failed bool) {
	t.mu.Lock()
	in.running--
	in.ended = time.Now()
	if failed {
		in.failed++
	}
	isOver := in.running == 0 && (in.last || !in.span.IsRecording())
	switch {
	case isOver:
		t.remove(key, in)
	case in.running == 0 && in.timer == nil:
		in.timer = time.AfterFunc(linger, func() { t.expire(key, in) })
	case in.running == 0:
		in.timer.Reset(linger)
	}
	t.mu.Unlock()
	if isOver {
		in.end()
	}
}

// expire ends the span of a tick of which nothing has begun for a while.
func (t *ticks) expire(key tickKey, in *tick) {
	t.mu.Lock()
	isOver := in.running == 0 && t.remove(key, in)
	t.mu.Unlock()
	if isOver {
		in.end()
	}
}

// close ends the spans of a job whose instance has left. Those of handlers that still run end
// with them.
func (t *ticks) close(job string) {
	var over []*tick
	t.mu.Lock()
	for key, in := range t.open {
		if key.job != job {
			continue
		}
		in.last = true
		if in.running == 0 && t.remove(key, in) {
			over = append(over, in)
		}
	}
	t.mu.Unlock()
	for _, in := range over {
		in.end()
	}
}

// remove forgets a tick, and reports whether it was still known. The caller has the lock.
func (t *ticks) remove(key tickKey, in *tick) bool {
	if t.open[key] != in {
		return false
	}
	delete(t.open, key)
	if in.timer != nil {
		in.timer.Stop()
	}
	return true
}

// end ends the span of a tick that was removed, so nobody else changes it.
func (in *tick) end() {
	in.span.SetAttributes(keyItems.Int(in.executions), keyFailed.Int(in.failed))
	if in.failed > 0 {
		in.span.SetStatus(codes.Error, fmt.Sprintf("%d of %d executions failed here", in.failed, in.executions))
	}
	in.span.End(trace.WithTimestamp(in.ended))
}
