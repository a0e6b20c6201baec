package commit

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// maxConflicts is how many parts may be left out of one commit. If it still conflicts, it is
// given up, and the step decides again when the view has caught up.
const maxConflicts = 3

// Answer is what has become of a change that was sent.
type Answer struct {
	Change    decide.Change // as it was sent last: parts may have been left out
	Revision  int64         // of the commit
	Err       error
	Conflicts []Conflict // the parts that were left out
	// Left are the parts that were not sent, because the change was too large, as smaller changes.
	Left []decide.Change
}

// Conflict is a part that conflicted.
type Conflict struct {
	Name string // decide.Change.Name
	Part decide.Part
	Err  error
}

// Send commits a change. A part that conflicts is left out, and the rest is sent again at once. Of a change that
// is too large only the first half is sent (Answer.Left). Several Sends may run at once.
func Send(ctx context.Context, reg coord.Registry, change decide.Change) Answer {
	a := Answer{Change: change}
	if change.Urgency != urgency.Usual {
		ctx = urgency.With(ctx, change.Urgency)
	}
	for {
		a.Revision, a.Err = reg.Commit(ctx, a.Change.Ops...)
		if conflict, ok := errors.AsType[*coord.ConflictError](a.Err); ok {
			n := a.Change.PartOf(conflict.Index)
			if n < 0 || len(a.Conflicts) == maxConflicts {
				return a
			}
			a.Conflicts = append(a.Conflicts, Conflict{a.Change.Name(a.Change.Parts[n]), a.Change.Parts[n], a.Err})
			if len(a.Change.Parts) == 1 {
				return a
			}
			a.Change = a.Change.Without(n)
			continue
		}
		if errors.Is(a.Err, coord.ErrTooLarge) && len(a.Change.Parts) > 1 {
			first, second := a.Change.Halves()
			a.Change, a.Left = first, append(a.Left, second)
			continue
		}
		return a
	}
}

// MayHaveHappened reports whether a commit with this error has happened, or may have.
func MayHaveHappened(err error) bool { return err == nil || errors.Is(err, coord.ErrUnknownOutcome) }
