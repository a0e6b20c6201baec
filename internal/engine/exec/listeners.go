package exec

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Listener is a listener of one of the two kinds, with its name.
type Listener struct {
	Name  string
	Each  jobtype.Listener     // of each execution; nil if it is of the other kind
	Once  jobtype.OnceListener // of whole ticks; nil if it is of the other kind
	Times jobtype.OnceTimes    // of Once

	abandoned atomic.Int64 // calls that were abandoned and have not returned
}

// maxAbandoned bounds the calls of a listener that were abandoned and have not returned.
const maxAbandoned = 100

// Caller calls listeners.
type Caller struct {
	// Working has the goroutines of the calls, also of those that were abandoned.
	Working *sync.WaitGroup
	// Report is told what goes wrong.
	Report func(*jobtype.ListenerError)
}

// Call calls a function of a listener in a goroutine of its own, because the listener may not return, and
// waits for it. ctx ends after most; GraceTime later the call is abandoned.
func (c Caller) Call(ctx context.Context, l *Listener, what string, most time.Duration, f func(context.Context) error) {
	if err := c.guarded(ctx, l, most, f); err != nil {
		c.Report(&jobtype.ListenerError{Listener: l.Name, Call: what, Err: err})
	}
}

func (c Caller) guarded(ctx context.Context, l *Listener, most time.Duration, f func(context.Context) error) error {
	if n := l.abandoned.Load(); n >= maxAbandoned {
		return fmt.Errorf("%w: it was not called, because %d earlier calls have not returned", jobtype.ErrListenerTimeout, n)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, jobtype.ErrListenerTimeout)
	defer cancel()
	returned := make(chan error, 1)
	var settled atomic.Bool // who comes second knows: the call has returned, or it was abandoned
	c.Working.Go(func() {
		err := error(ErrGoexit)
		defer func() {
			if v := recover(); v != nil {
				err = &jobtype.PanicError{Value: v, Stack: debug.Stack()}
			}
			if settled.Swap(true) {
				l.abandoned.Add(-1)
			}
			returned <- err
		}()
		err = f(ctx)
	})
	select {
	case err := <-returned:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(GraceTime)
	defer grace.Stop()
	select {
	case err := <-returned:
		if err != nil && context.Cause(ctx) == jobtype.ErrListenerTimeout {
			return fmt.Errorf("%w: %w", jobtype.ErrListenerTimeout, err)
		}
		return err
	case <-grace.C:
	}
	if !settled.Swap(true) {
		l.abandoned.Add(1)
	}
	return fmt.Errorf("%w: the call is left behind, %v after its context has ended: %w", jobtype.ErrListenerTimeout, GraceTime, context.Cause(ctx))
}

// before tells the listeners that an execution begins.
func (e *Execution) before(ctx context.Context) {
	for _, l := range e.Listeners {
		e.caller(ctx).Call(e.handlerContext(ctx), l, "Before", e.ListenerTime, func(ctx context.Context) error { return l.Each.Before(ctx, e.Context) })
	}
}

// after tells the listeners how an execution has ended.
func (e *Execution) after(ctx context.Context, outcome jobtype.Outcome, err error) {
	if len(e.Listeners) == 0 {
		return
	}
	if outcome == 0 { // something has ended the goroutine
		outcome = OutcomeOf(ctx, err)
	}
	ctx = context.WithoutCancel(ctx)
	for _, l := range slices.Backward(e.Listeners) {
		e.caller(ctx).Call(e.handlerContext(ctx), l, "After", e.ListenerTime, func(ctx context.Context) error { return l.Each.After(ctx, e.Context, outcome, err) })
	}
}

// caller returns what calls listeners, and tells the error handlers what goes wrong.
func (e *Execution) caller(ctx context.Context) Caller {
	return Caller{e.Working, func(err *jobtype.ListenerError) {
		e.Errors.HandleError(e.handlerContext(context.WithoutCancel(ctx)), e.Context, err)
	}}
}

// handlerContext returns a context in which the execution can be asked for what handlers ask: logger,
// properties, signals, cursor.
func (e *Execution) handlerContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, handleKey{}, &handle{slog: e.Slog, guard: e.Scopes.Guard, sc: e.Context, signals: e.Signals, cursor: e.Cursor})
}

// GraceTime is how long a call of the program's may go on after its context has ended, before it is abandoned.
const GraceTime = time.Second
