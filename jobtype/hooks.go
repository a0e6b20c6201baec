package jobtype

import "context"

// Scope is opened around each execution of this process, for a tracer, a profiler or a lock: its
// context is the one that the handler gets. It is called with an EventStarted, in the goroutine of the
// execution, before the first attempt. What it returns is told of each failed attempt after which another one comes
// (EventRetried), and of the end (EventFinished), which comes once, whatever
// became of the execution: also if the handler has panicked, or has returned long after a shutdown. It may be nil. In
// between are all attempts, the pauses between them, the error handlers, and Before and After of
// the listeners.
//
// It is on the path of each execution, so it must not wait for anything. The context has to be ctx,
// with values added by [context.WithValue], job.Propagate or job.LogTo: the end of a handler's context
// is the scheduler's. Any other context is left out, with nil for none. If a function of a scope panics, the execution
// goes on without it. Either is logged, at most once a minute.
type Scope func(ctx context.Context, started Event) (context.Context, func(Event))
