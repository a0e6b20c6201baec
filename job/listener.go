package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// Listener is told before and after each execution of an item on this instance. [WithListener]
// gives it a name, and Config.Listeners says which listeners a job has, and in which order.
//
// It is called in place of the handler: the item runs while it is called, and a thread is busy.
// All its calls have a bounded time, see [WithListenerTimeout]. Its contexts are those of the
// execution: a call may use [Logger], [PropertiesNow] and [Cursor], as a handler does.
//
// An error or a panic of a listener goes to the job's error handlers, as a *[ListenerError].
// Nothing else follows from it: the other listeners are told, the handler is called, and the
// outcome of the execution stays what it is.
type Listener interface {
	// Before is called before the first attempt. ctx ends as that of the handler does, but
	// Config.Timeout counts from the end of the last Before. If ctx has ended when it returns,
	// the handler is not called.
	Before(ctx context.Context, sc ShardingContext) error
	// After is called after the last attempt, and after the error handlers, in the reverse
	// order of Before. It is told how the execution ended, whatever the reason: it succeeded,
	// failed, took too long, was killed or was cut short. err is nil if the outcome is
	// [OutcomeOK]. ctx does not end with the execution, and after a lost session others may
	// have begun the item already. Attempt of sc is that of the last attempt.
	//
	// Each execution has a Before and an After, unless the process ends in between. A claim
	// that is given up before its handler was called has none of them.
	After(ctx context.Context, sc ShardingContext, outcome Outcome, err error) error
}

// ListenerFuncs makes a Listener of functions. Those that are nil are not called.
type ListenerFuncs struct {
	OnBefore func(ctx context.Context, sc ShardingContext) error
	OnAfter  func(ctx context.Context, sc ShardingContext, outcome Outcome, err error) error
}

// Before calls OnBefore.
func (f ListenerFuncs) Before(ctx context.Context, sc ShardingContext) error {
	if f.OnBefore == nil {
		return nil
	}
	return f.OnBefore(ctx, sc)
}

// After calls OnAfter.
func (f ListenerFuncs) After(ctx context.Context, sc ShardingContext, outcome Outcome, err error) error {
	if f.OnAfter == nil {
		return nil
	}
	return f.OnAfter(ctx, sc, outcome, err)
}

// ErrListenerTimeout: a call of a listener has taken too long. Once the context of the call has
// ended, the listener has another second; then the call is left behind, and what waits for it
// goes on. If 100 calls of a listener were left behind and have not returned, it is not
// called.
var ErrListenerTimeout = errors.New("job: listener did not return in time")

// ListenerError is what went wrong with a call of a listener, as the error handlers get it. If
// it is about a whole tick, Item of their ShardingContext is -1.
type ListenerError struct {
	Listener string // its name
	Call     string // Before, After, Started or Completed
	Instance string // that was to call, if it is about a whole tick
	Err      error  // what it returned, a *PanicError, or ErrListenerTimeout
}

// Error names the listener and the call, and says what went wrong.
func (e *ListenerError) Error() string {
	if e.Instance != "" {
		return fmt.Sprintf("job: listener %s: %s on %s: %v", quote(e.Listener), e.Call, short(e.Instance), e.Err)
	}
	return fmt.Sprintf("job: listener %s: %s: %v", quote(e.Listener), e.Call, e.Err)
}

// Unwrap returns Err.
func (e *ListenerError) Unwrap() error { return e.Err }

// WithListener gives a listener a name, for Config.Listeners. The name has up to 255 bytes. All
// instances of a job have to know all names: one that does not know a name refuses the
// configuration. Of two listeners with the same name the last one counts, of either kind: see
// [WithOnceListener].
func WithListener(name string, l Listener) Option {
	return func(o *options) error {
		if isNil(l) {
			return fmt.Errorf("job: listener %s is nil", quote(name))
		}
		return o.addListener(&namedListener{name: name, each: l})
	}
}

// maxListenerTime bounds the time-outs of listeners.
const maxListenerTime = 24 * time.Hour

// WithListenerTimeout sets how long a call of a [Listener] may take, before its context ends.
// Default 10 s; at most 24 h.
func WithListenerTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 || d > maxListenerTime {
			return fmt.Errorf("job: listener time-out %v: more than 0 and up to %v is allowed", d, maxListenerTime)
		}
		o.listenerTime = d
		return nil
	}
}

func (o *options) addListener(l *namedListener) error {
	if err := jobconf.CheckText(l.name, jobconf.MaxText); err != nil {
		return fmt.Errorf("job: listener %s: name: %w", quote(l.name), err)
	}
	put(&o.listeners, l.name, l)
	return nil
}
