package job

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
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

// WithScope adds a scope. It may be given several times; the first one is the outermost.
func WithScope(s Scope) Option {
	return func(o *options) error {
		if s == nil {
			return errors.New("job: scope is nil")
		}
		o.scopes = append(o.scopes, s)
		return nil
	}
}

// scopes are those of an execution. Its goroutine uses them.
type scopes struct {
	list    []Scope
	guard   *health.Guard
	started Event
	open    []func(Event) // of those that are open and want to be told, the outermost first
}

// enter opens the scopes, and returns the context that they give to the execution.
func (s *scopes) enter(ctx context.Context) context.Context {
	for _, scope := range s.list {
		ctx = s.enterOne(ctx, scope)
	}
	return ctx
}

func (s *scopes) enterOne(ctx context.Context, scope Scope) (within context.Context) {
	within = ctx
	defer s.guard.Catch("a scope")
	next, told := scope(ctx, s.started)
	if told != nil {
		s.open = append(s.open, told)
	}
	switch {
	case next == nil:
	case next.Value(ofJob{}) != ctx.Value(ofJob{}), next.Done() != ctx.Done():
		s.guard.Report("the context of a scope is left out: only values may be added to the one that it is given")
	default:
		return next
	}
	return ctx
}

// tell tells the scopes of an event.
func (s *scopes) tell(e Event) {
	for _, told := range s.open {
		s.call(told, e)
	}
}

// close ends the scopes, the innermost first. It ends all of them, also if a function ends the
// goroutine (runtime.Goexit).
func (s *scopes) close(e Event) {
	for _, told := range s.open {
		defer s.call(told, e)
	}
}

func (s *scopes) call(told func(Event), e Event) {
	defer s.guard.Catch("a scope")
	told(e)
}
