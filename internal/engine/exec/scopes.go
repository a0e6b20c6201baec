package exec

import (
	"context"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Scopes are the [jobtype.Scope]s around one execution: open has what they have returned. The
// goroutine of the execution uses them.
type Scopes struct {
	List    []jobtype.Scope
	Guard   *health.Guard
	Started jobtype.Event
	open    []func(jobtype.Event) // of those that are open and want to be told, the outermost first
}

// enter opens the Scopes, and returns the context that they give to the execution.
func (s *Scopes) enter(ctx context.Context) context.Context {
	for _, scope := range s.List {
		ctx = s.enterOne(ctx, scope)
	}
	return ctx
}

func (s *Scopes) enterOne(ctx context.Context, scope jobtype.Scope) (within context.Context) {
	within = ctx
	defer s.Guard.Catch("a scope")
	next, told := scope(ctx, s.Started)
	if told != nil {
		s.open = append(s.open, told)
	}
	switch {
	case next == nil:
	case next.Value(ownerKey{}) != ctx.Value(ownerKey{}), next.Done() != ctx.Done():
		s.Guard.Report("the context of a scope is left out: only values may be added to the one that it is given")
	default:
		return next
	}
	return ctx
}

// Tell tells the Scopes of an event.
func (s *Scopes) Tell(e jobtype.Event) {
	for _, told := range s.open {
		s.call(told, e)
	}
}

// Close tells each open scope of the end, the innermost first. Each is told, also if one of them ends
// the goroutine (runtime.Goexit): so the calls are deferred.
func (s *Scopes) Close(e jobtype.Event) {
	for _, told := range s.open {
		defer s.call(told, e)
	}
}

func (s *Scopes) call(told func(jobtype.Event), e jobtype.Event) {
	defer s.Guard.Catch("a scope")
	told(e)
}

// None reports whether no scope is open that wants to be told.
func (s *Scopes) None() bool { return len(s.open) == 0 }

// ownerKey is the key under which a handler's context holds the scheduler that runs it.
type ownerKey struct{}

// WithOwner returns a context of the handlers of a scheduler.
func WithOwner(ctx context.Context, scheduler any) context.Context {
	return context.WithValue(ctx, ownerKey{}, scheduler)
}

// OwnerOf returns the scheduler whose handler the context was given; nil if it is none.
func OwnerOf(ctx context.Context) any { return ctx.Value(ownerKey{}) }
