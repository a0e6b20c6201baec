package zk

import (
	"context"
	"sync"
	"time"
)

// limit bounds a request: by the context of the call, and by the registry's own time.
type limit struct {
	context.Context
	late <-chan struct{} // closed when the time is over; nil if there is no such
}

// unlimited is the limit of a context alone.
func unlimited(ctx context.Context) limit { return limit{Context: ctx} }

// over returns why the limit has been reached, as an *endedError, or nil.
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

// deadlines hands out channels that are closed when a request has had its time. Those
// of requests that begin at about the same time are one: a timer of its own is a
// considerable part of what a short request costs.
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
