package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// namedListener is a listener of one of the two kinds, with its name.
type namedListener struct {
	name  string
	each  Listener     // of each execution; nil if it is of the other kind
	once  OnceListener // of whole ticks; nil if it is of the other kind
	times OnceTimes    // of once

	strays atomic.Int64 // calls that were left behind and have not returned
}

// maxStrays bounds the calls of a listener that were left behind and have not returned.
const maxStrays = 100

// listenersFor returns the listeners of a configuration, of both kinds, in their order.
func (o *options) listenersFor(c Config) (each, once []*namedListener, faults []*FieldError) {
	for _, name := range c.Listeners {
		l := o.listeners[name]
		switch {
		case l == nil:
			faults = append(faults, &FieldError{Field: jobconf.KeyListeners, Value: quote(name), Err: o.unknownListener()})
		case l.each != nil:
			each = append(each, l)
		case c.MonitorExecution == Off:
			faults = append(faults, &FieldError{Field: jobconf.KeyListeners, Value: quote(name), Err: fmt.Errorf("it is told of whole ticks, and needs %s, whose records tell when a tick is through", jobconf.KeyMonitorExecution)})
		default:
			once = append(once, l)
		}
	}
	return each, once, faults
}

func (o *options) unknownListener() error {
	if len(o.listeners) == 0 {
		return errors.New("not known here; WithListener and WithOnceListener make names known")
	}
	return fmt.Errorf("not known here, %s are; WithListener and WithOnceListener make names known", strings.Join(slices.Sorted(maps.Keys(o.listeners)), ", "))
}

// caller calls listeners.
type caller struct {
	// working has the goroutines of the calls, also of those that are left behind.
	working *sync.WaitGroup
	// report is told what goes wrong.
	report func(*ListenerError)
}

// call calls a function of a listener in a goroutine of its own, because the listener may not
// return. ctx ends after most.
func (c caller) call(ctx context.Context, l *namedListener, what string, most time.Duration, f func(context.Context) error) {
	if err := c.guarded(ctx, l, most, f); err != nil {
		c.report(&ListenerError{Listener: l.name, Call: what, Err: err})
	}
}

func (c caller) guarded(ctx context.Context, l *namedListener, most time.Duration, f func(context.Context) error) error {
	if n := l.strays.Load(); n >= maxStrays {
		return fmt.Errorf("%w: it was not called, because %d earlier calls have not returned", ErrListenerTimeout, n)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, ErrListenerTimeout)
	defer cancel()
	returned := make(chan error, 1)
	var settled atomic.Bool // who comes second knows: the call has returned, or it was left behind
	c.working.Go(func() {
		err := error(errGoexit)
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
			if settled.Swap(true) {
				l.strays.Add(-1)
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
	grace := time.NewTimer(graceTime)
	defer grace.Stop()
	select {
	case err := <-returned:
		if err != nil && context.Cause(ctx) == ErrListenerTimeout {
			return fmt.Errorf("%w: %w", ErrListenerTimeout, err)
		}
		return err
	case <-grace.C:
	}
	if !settled.Swap(true) {
		l.strays.Add(1)
	}
	return fmt.Errorf("%w: the call is left behind, %v after its context has ended: %w", ErrListenerTimeout, graceTime, context.Cause(ctx))
}

// before tells the listeners that an execution begins.
func (e *execution) before(ctx context.Context) {
	for _, l := range e.listeners {
		e.caller(ctx).call(e.within(ctx), l, "Before", e.listenerTime, func(ctx context.Context) error { return l.each.Before(ctx, e.sc) })
	}
}

// after tells the listeners how an execution has ended.
func (e *execution) after(ctx context.Context, outcome Outcome, err error) {
	if len(e.listeners) == 0 {
		return
	}
	if outcome == 0 { // something has ended the goroutine
		outcome = outcomeOf(ctx, err)
	}
	ctx = context.WithoutCancel(ctx)
	for _, l := range slices.Backward(e.listeners) {
		e.caller(ctx).call(e.within(ctx), l, "After", e.listenerTime, func(ctx context.Context) error { return l.each.After(ctx, e.sc, outcome, err) })
	}
}

// caller returns what calls listeners, and tells the error handlers what goes wrong.
func (e *execution) caller(ctx context.Context) caller {
	return caller{e.working, func(err *ListenerError) {
		e.errors.HandleError(e.within(context.WithoutCancel(ctx)), e.sc, err)
	}}
}

// within returns a context in which the execution can be asked for what handlers ask.
func (e *execution) within(ctx context.Context) context.Context {
	in := e.inside
	in.sc = e.sc
	return context.WithValue(ctx, insideKey{}, &in)
}
