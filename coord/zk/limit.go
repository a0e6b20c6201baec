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

// contextOnly is a limit without a time-out.
func contextOnly(ctx context.Context) limit { return limit{Context: ctx} }

// cause returns why the limit is reached, as an *endedError, or nil if it is not reached.
func (l limit) cause() error {
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

// awaitUsable waits until get returns a usable value. get also returns a channel that is closed when
// the value changes. The wait ends with the limit or the registry.
func awaitUsable[T any](r *Registry, l limit, get func() (value T, usable bool, changed <-chan struct{})) (T, error) {
	for {
		value, usable, changed := get()
		if r.ctx.Err() != nil {
			return value, context.Cause(r.ctx)
		}
		if err := l.cause(); err != nil {
			return value, err
		}
		if usable {
			return value, nil
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
		case <-l.Done():
		case <-l.late:
		}
	}
}

// deadlines provides channels that are closed when a request has timed out. Requests that begin at
// about the same time share one, because a timer for each would cost too much.
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
