package zk

import (
	"context"
	"sync"
	"time"
)

// limit bounds a request: by the context of the call, and by the registry's request time-out.
type limit struct {
	context.Context
	late <-chan struct{} // closed when the time-out has passed; nil if there is none
}

// unlimited is a limit by a context alone.
func unlimited(ctx context.Context) limit { return limit{Context: ctx} }

// over returns why the limit is reached, as an *endedError, or nil if it is not.
func (l limit) over() error {
	if l.Err() != nil {
		return &endedError{context.Cause(l.Context)}
	}
	select {
	case <-l.late:
		return &endedError{errTimeout}
	default:
		return nil
	}
}

// deadlines gives out channels that are closed when a request has timed out. Requests that
// begin at about the same time share one, because a timer for each would be a considerable
// part of the cost of a short request.
type deadlines struct {
	timeout time.Duration

	mu    sync.Mutex
	begun time.Time
	late  chan struct{}
}

// next returns a channel that is closed after the time-out, or an eighth later.
func (d *deadlines) next() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if slack := d.timeout / 8; d.late == nil || now.Sub(d.begun) > slack {
		late := make(chan struct{})
		time.AfterFunc(d.timeout+slack, func() { close(late) })
		d.begun, d.late = now, late
	}
	return d.late
}
