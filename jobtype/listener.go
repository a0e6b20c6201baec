package jobtype

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Listener is told before and after each execution of an item on this instance. job.WithListener
// gives it a name, and Config.Listeners says which listeners a job has, and in which order.
//
// It is called in place of the handler: the item runs while it is called, and a thread is busy.
// All its calls have a bounded time, see job.WithListenerTimeout. Its contexts are those of the
// execution: a call may use job.Logger, job.PropertiesNow and job.Cursor, as a handler does.
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
		return fmt.Sprintf("job: listener %s: %s on %s: %v", brief.Quote(e.Listener), e.Call, brief.Text(e.Instance), e.Err)
	}
	return fmt.Sprintf("job: listener %s: %s: %v", brief.Quote(e.Listener), e.Call, e.Err)
}

// Unwrap returns Err.
func (e *ListenerError) Unwrap() error { return e.Err }
