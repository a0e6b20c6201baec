package job

import (
	"context"
	"errors"
)

// Scope is opened around each execution of this process, for a tracer, a profiler or a lock: its
// context is the one that the handler gets. It is called in the goroutine of the execution,
// before the first attempt; what it returns is called when the execution has ended, whatever
// became of it: also if the handler has panicked, or has returned long after a shutdown. In
// between are all attempts, the pauses between them, the error handlers, and Before and After of
// the listeners.
//
// It is on the path of each execution, so it must not wait for anything. The context has to be ctx,
// with values added by [context.WithValue]: the end of a handler's context is the scheduler's. Any
// other context is left out, with nil for none. If a function of a scope panics, the execution
// goes on without it. Either is logged, seldom.
type Scope func(ctx context.Context, e StartedEvent) (context.Context, ScopeEnd)

// ScopeEnd is what a scope is told of its execution. Each function may be nil, and is called in
// the goroutine of the execution.
type ScopeEnd struct {
	// Retried: an attempt has failed, and another one is to come.
	Retried func(RetriedEvent)
	// Finished: the execution has ended. It is called once.
	Finished func(FinishedEvent)
}

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
	of      *mishaps
	started StartedEvent
	ends    []ScopeEnd // of those that are open
}

// open opens the scopes, and returns the context that they give to the execution.
func (s *scopes) open(ctx context.Context) context.Context {
	for _, scope := range s.list {
		ctx = s.enter(ctx, scope)
	}
	return ctx
}

func (s *scopes) enter(ctx context.Context, scope Scope) (within context.Context) {
	within = ctx
	defer s.of.catch("a scope")
	next, end := scope(ctx, s.started)
	s.ends = append(s.ends, end)
	switch {
	case next == nil:
	case next.Value(ofJob{}) != ctx.Value(ofJob{}), next.Done() != ctx.Done():
		s.of.tell("the context of a scope is left out: only values may be added to the one that it is given")
	default:
		return next
	}
	return ctx
}

// retried tells the scopes of an attempt that has failed.
func (s *scopes) retried(e RetriedEvent) {
	for _, end := range s.ends {
		if end.Retried != nil {
			s.call(func() { end.Retried(e) })
		}
	}
}

// close ends the scopes, the innermost first. It ends all of them, also if a function ends the
// goroutine (runtime.Goexit).
func (s *scopes) close(e FinishedEvent) {
	for _, end := range s.ends {
		if end.Finished != nil {
			defer s.call(func() { end.Finished(e) })
		}
	}
}

func (s *scopes) call(f func()) {
	defer s.of.catch("a scope")
	f()
}
