package diagnose

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// StorePatience is how long requests may fail before the store is at fault.
	StorePatience = 2 * time.Second
	// treePatience is how long commits may conflict, or the leader be missing, before the
	// tree is at fault: conflicts may only mean that others are faster.
	treePatience = 4 * time.Second
	// endedTime is how long it is a fault that somebody else has ended a session: so long that operators who
	// come to look still see it.
	endedTime = 10 * time.Minute
)

// SessionLost notes why an instance has lost its session. That somebody else has ended it is a fault of the next
// instance.
func (d *Diagnosis) SessionLost(instance string, why error, now clocks.Moment) {
	if errors.Is(why, coord.ErrSessionEnded) {
		d.ended, d.endedAt = fmt.Errorf("instance %s: %w", instance, why), now
	}
}

// storeFault returns what is wrong with the store or the session; nil if nothing is.
func (d *Diagnosis) storeFault(p Pass) error {
	w := p.World
	state, _ := p.Session.State() // nobody waits here for its change
	suspended := d.track(&d.suspended, state == coord.Suspended, w.Moment, StorePatience/2)
	if err := d.failureFault(w.Moment, StorePatience, commit.OfStore); err != nil {
		return err
	}
	if suspended {
		return health.Suspended(p.Session)
	}
	if d.track(&d.unregistered, !w.IsRegistered() && !p.Leaving, w.Moment, 2*treePatience) {
		return fmt.Errorf("%w: this instance is not in the registry, or the view of the job does not show it", coord.ErrUnavailable)
	}
	return d.viewFault(jobtype.FaultStore)
}

// viewFault returns what the view cannot read, if that is a fault of a kind.
func (d *Diagnosis) viewFault(kind jobtype.FaultKind) error {
	if err := d.config.View.Fault(); err != nil && health.KindOfView(err) == kind {
		return err
	}
	return nil
}

// failureFault returns the oldest failure of a kind, with how many more there are, if it has lasted for patience.
func (d *Diagnosis) failureFault(now clocks.Moment, patience time.Duration, kind func(error) bool) error {
	oldest, n := d.config.Commits.Oldest(kind, patience)
	switch {
	case oldest == nil:
		return nil
	case n == 0:
		d.config.WakeIn(patience - now.Sub(oldest.Since))
		return nil
	case n > 1:
		return fmt.Errorf("%s (and %d more): %w", brief.Text(oldest.Name), n-1, oldest.Err)
	}
	return fmt.Errorf("%s: %w", brief.Text(oldest.Name), oldest.Err)
}

// treeFault returns what is in the way in the tree; nil if nothing is.
func (d *Diagnosis) treeFault(w *decide.World) error {
	if err := d.failureFault(w.Moment, treePatience, commit.OfTree); err != nil {
		return err
	}
	if err := d.viewFault(jobtype.FaultTree); err != nil {
		return err
	}
	if d.ended != nil {
		if left := endedTime - w.Moment.Sub(d.endedAt); left > 0 {
			d.config.WakeIn(left)
			return fmt.Errorf("job %s: %w", w.Job, d.ended)
		}
		d.ended = nil
	}
	// If this instance may lead, somebody should.
	if d.track(&d.leaderless, !w.LeaderIsAlive() && w.MayLead(), w.Moment, treePatience) {
		return fmt.Errorf("job %s: nobody leads, so items are not assigned, nor recovered", w.Job)
	}
	if id, version := w.NewerProtocol(); id != "" {
		return fmt.Errorf("job %s: instance %s shares the tree by protocol %d, and this program knows %d at most; update this program", w.Job, brief.Text(id), version, jobtree.Protocol)
	}
	if id, what := w.OldMember(); id != "" {
		return fmt.Errorf("job %s: instance %s shares the tree by protocol %d, and %s; update its program", w.Job, brief.Text(id), w.Session(id).Protocol, what)
	}
	if w.UnusableNodes > 0 {
		return fmt.Errorf("job %s: %d nodes have names that cannot be used, and are not looked at, such as %q", w.Job, w.UnusableNodes, w.Unusable)
	}
	return nil
}
