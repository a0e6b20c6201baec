package jobtype

import (
	"context"
	"log/slog"
)

// Scope is opened around each execution of this process, for a tracer, a profiler or a lock: its
// context is the one that the handler gets. It is called with an EventStarted, in the goroutine of the
// execution, before the first attempt. What it returns is told of each failed attempt after which another one comes
// (EventRetried), and of the end (EventFinished), which comes once, whatever
// became of the execution: also if the handler has panicked, or has returned long after a shutdown. It may be nil. In
// between are all attempts, the pauses between them, the error handlers, and Before and After of
// the listeners.
//
// It is on the path of each execution, so it must not wait for anything. The context has to be ctx,
// with values added by [context.WithValue]: the end of a handler's context is the scheduler's. Any
// other context is left out, with nil for none. If a function of a scope panics, the execution
// goes on without it. Either is logged, at most once a minute.
type Scope func(ctx context.Context, started Event) (context.Context, func(Event))

// LogHandler makes what keeps the lines of an execution: those that its handler writes with
// job.Logger, and what a script prints. It is called in each execution at the first call of
// Logger, so not at all if there is none, with the context of the execution. It may return nil.
// The lines come without the attributes that Logger adds for the scheduler's own log: e says of
// which execution they are. An [Observer] is told the end of the execution, after its
// last line, or by a [Scope].
//
// The slog.Handler is on the path of the handler's own calls, in any goroutine, so it must not
// wait for anything. It has levels of its own, whatever those of the scheduler's log are. If it
// panics, or the LogHandler does, the line is missing there; that is logged, seldom.
type LogHandler func(ctx context.Context, e Event) slog.Handler
