package oteljob

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
)

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
