package oteljob

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
)

// linkToOriginal links to the execution that this one repeats, which is in the same trace; but
// for a retry of what was triggered: then nobody knows the trigger.
func (x *execution) linkToOriginal() {
	task := x.started.OriginalTaskID
	if task == "" || x.started.Source == job.SourceRetry && !isTick(x.started.ScheduledTime) {
		return
	}
	original := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: x.span.SpanContext().TraceID(), SpanID: spanOf(task), TraceFlags: trace.FlagsSampled, Remote: true,
	})
	x.span.AddLink(trace.Link{SpanContext: original, Attributes: []attribute.KeyValue{keyLink.String("repeats"), keyTask.String(task)}})
}

// linkToOverrun links to the execution that was under way when the tick came.
func (x *execution) linkToOverrun() {
	if r, ok := x.recent.during(x.started.JobName, x.started.Item, x.started.ScheduledTime); ok {
		x.span.AddLink(trace.Link{SpanContext: r.span, Attributes: []attribute.KeyValue{keyLink.String("ran when the tick came")}})
	}
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
