package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// leadership is what this instance remembers as leader, and some of what any member does.
type leadership struct {
	// A step has changed what the later steps of a leader decide on: they wait for the next
	// pass. abdicate, tidy, putInForce and recover set it; pass clears it.
	led bool
	// What this leader has dealt. deal changes it, elect clears it.
	dealt dealt
	// Questions that were not answered in time, by the names of their strategies. consult
	// changes them: for a leader that deals, and for any member that makes up.
	questions map[string]*question
	// When to look at the whole tree again. reconcileIfDue changes it, in any role.
	reconcile clocks.Moment
	// Servers that nobody uses are to be removed. reconcileIfDue sets it, sweep clears it.
	sweeping bool
}

// elect makes this instance the leader if there is none and it is this instance's turn.
func (c *controller) elect(w *decide.World) error {
	c.dealt = dealt{}
	c.fault(jobtype.FaultStrategy, nil) // only a leader has it
	if left := w.Turn() - w.Leaderless; left > 0 && !w.LeaderStands() && w.MayLead() {
		c.wakeIn(left)
	}
	if change := w.Elect(); change != nil {
		c.elected = true // or may be
		c.commit(*change)
	}
	return nil
}

// abdicate gives leadership up if this instance may not lead any more.
func (c *controller) abdicate(w *decide.World) error {
	if change := w.Abdicate(); change != nil {
		c.commit(*change)
		c.led = true // even if it has failed: this instance must not lead
	}
	return nil
}

// tidy removes what external writers have put in everybody's way.
func (c *controller) tidy(w *decide.World) error {
	c.led = c.commitAll(w.Tidy())
	return nil
}

// putInForce records a new schedule, and since when it is in force.
func (c *controller) putInForce(w *decide.World) error {
	change, err := w.PutInForce()
	if change != nil {
		c.led = c.commit(*change)
	}
	return err
}

// markForFailover removes the records of runs whose instances have ended. With failover on it puts
// their items up to be run again.
func (c *controller) markForFailover(w *decide.World) error {
	if !c.mayRecover(w) {
		return nil
	}
	orphans := w.Orphans()
	lacks := func(o decide.Orphan) bool { return w.LacksRequest(o.Item) }
	switch {
	case !slices.ContainsFunc(orphans, lacks):
		c.recoveredBy = 0
	case !c.isShown(&c.recoveredBy):
		orphans = slices.DeleteFunc(orphans, lacks)
	}
	if orphans = c.confirm(orphans); len(orphans) > 0 && c.commitAll(w.MarkForFailover(orphans)) {
		c.logRecovered(orphans)
		c.led = true
	}
	return nil
}

// rewind corrects ticks from the future. The later steps do not wait for it (led): they do
// not depend on it, and an instance with a wrong clock may write such ticks again and again.
func (c *controller) rewind(w *decide.World) error {
	c.commitAll(w.Rewind())
	return nil
}

// clean removes what options that were switched off, and instances that have ended, have
// left behind. That may be a lot, so each pass removes a part; the later steps do not wait.
func (c *controller) clean(w *decide.World) error {
	if c.commitAll(firstOf(w.Clean())) {
		c.stale = true // the next pass goes on by a view that shows what is gone
	}
	return nil
}

// sweep removes servers that nobody uses, once after each reconciliation.
func (c *controller) sweep(w *decide.World) error {
	if c.sweeping {
		c.sweeping = false
		c.commitAll(firstOf(w.Sweep()))
	}
	return nil
}

// assign writes who owns each item, as the strategy says.
func (c *controller) assign(w *decide.World) error {
	if c.dealt.rests && !c.settings.StaticSharding && !c.weighsAgain(w.Moment) {
		c.fault(jobtype.FaultStrategy, nil)
		return nil
	}
	c.dealt.open = true
	if c.stale && w.HasBounds() {
		return nil // who has what must be known
	}
	owners, err := c.deal(w)
	if errors.Is(err, errThinking) {
		return nil
	}
	c.fault(jobtype.FaultStrategy, err)
	if owners == nil && err != nil {
		return nil
	}
	changes := w.Assign(owners)
	wait := w.DealWait(owners)
	if wait > 0 {
		c.wakeIn(wait)
	}
	c.commitAll(changes)
	if len(changes) > 0 && w.HasBounds() {
		c.stale = true // the next deal goes on by a view that shows who has what
	}
	c.dealt.open = len(changes) > 0 || wait > 0 || !w.IsDealt(owners) || w.AwaitsRuns(c.dealt.owners)
	c.dealt.rests = !c.dealt.open && err == nil && !c.dealt.isRestless
	c.weighLater(w.Moment, len(changes) > 0)
	return nil
}

// firstOf returns as many changes as may be under way together. A later pass does the rest.
func firstOf(changes []decide.Change) []decide.Change {
	return changes[:min(len(changes), commitsAtOnce)]
}

// confirm returns the orphans that are certain. The snapshot may show records of different
// commits side by side (decide.Orphan.IsTorn): an old record beside a new claim is no
// orphan. So confirm reads such records again from the store.
func (c *controller) confirm(orphans []decide.Orphan) []decide.Orphan {
	const step = "confirm"
	if !slices.ContainsFunc(orphans, decide.Orphan.IsTorn) {
		return orphans
	}
	mayRead := c.attempt(step)
	isThere := make([]bool, len(orphans))
	errs := make([]error, len(orphans))
	c.together(len(orphans), func(i int) {
		switch {
		case !orphans[i].IsTorn():
			isThere[i] = true
		case mayRead:
			isThere[i], errs[i] = c.isThere(orphans[i])
		}
	})
	var confirmed []decide.Orphan
	for i, o := range orphans {
		if isThere[i] {
			confirmed = append(confirmed, o)
		}
	}
	if !mayRead {
		return confirmed
	}
	switch i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); {
	case i >= 0:
		c.failed(step, errs[i])
	case len(confirmed) < len(orphans):
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job shows records of runs that are no more: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	default:
		c.troubles.over(step)
	}
	return confirmed
}

// isThere reports whether the store still has the record of an orphan.
func (c *controller) isThere(o decide.Orphan) (bool, error) {
	path, want := c.job.Failovering(o.Item), o.State.Failovering
	if o.State.Running != nil {
		path, want = c.job.Running(o.Item), o.State.Running
	}
	n, err := c.reg.Get(c.session.Context(), path)
	if errors.Is(err, coord.ErrNoNode) {
		return false, nil
	}
	return err == nil && n.Created == want.Created, err
}
