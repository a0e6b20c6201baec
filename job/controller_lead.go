package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// leadership is what a leader remembers. Its steps change it, and reconcileIfDue.
type leadership struct {
	led       bool // a step has committed what the later ones have to see: their turn is the next pass
	dealt     dealt
	questions map[string]*question // to strategies that have not answered in time, by their names
	reconcile time.Time            // when to look at the whole tree again
	sweeping  bool                 // servers that nobody uses are to be removed
}

// elect becomes the leader if there is none, when it is this instance's turn.
func (c *controller) elect(w *decide.World) error {
	c.dealt = dealt{}
	c.fault(FaultStrategy, nil) // which is the leader's
	if left := w.Turn() - w.Leaderless; left > 0 && !w.LeaderStands() && w.MayLead() {
		c.wakeIn(left)
	}
	if change := w.Elect(); change != nil {
		c.commit(*change)
	}
	return nil
}

// abdicate gives leadership up if this instance may not lead any more.
func (c *controller) abdicate(w *decide.World) error {
	if change := w.Abdicate(); change != nil {
		c.commit(*change)
		c.led = true // whether it succeeded or not: there is a reason not to lead
	}
	return nil
}

// tidy removes what is in everybody's way.
func (c *controller) tidy(w *decide.World) error {
	c.led = c.commitAll(w.Tidy())
	return nil
}

// putInForce records a schedule that is new.
func (c *controller) putInForce(w *decide.World) error {
	change, err := w.PutInForce()
	if change != nil {
		c.led = c.commit(*change)
	}
	return err
}

// recover puts what dead instances have left unfinished up for the others.
func (c *controller) recover(w *decide.World) error {
	if orphans := c.confirm(w.Orphans()); len(orphans) > 0 && c.commitAll(w.Recover(orphans)) {
		c.tellRecovered(orphans)
		c.led = true
	}
	return nil
}

// rewind corrects ticks from the future. They may come again and again, while somebody's
// clock is wrong and he does not know it. Nothing of the later steps depends on them, so
// those do not wait.
func (c *controller) rewind(w *decide.World) error {
	c.commitAll(w.Rewind())
	return nil
}

// clean removes what is left behind. That may be a lot, and nothing waits for it: items are
// dealt meanwhile.
func (c *controller) clean(w *decide.World) error {
	if c.commitAll(firstOf(w.Clean())) {
		c.stale = true // the rest is asked for when the view shows what is gone
	}
	return nil
}

// sweep removes servers that nobody uses.
func (c *controller) sweep(w *decide.World) error {
	if c.sweeping {
		c.sweeping = false
		c.commitAll(firstOf(w.Sweep()))
	}
	return nil
}

// assign deals the items.
func (c *controller) assign(w *decide.World) error {
	owners, err := c.deal(w)
	if errors.Is(err, errThinking) {
		return nil
	}
	c.fault(FaultStrategy, err)
	if owners != nil || err == nil {
		c.commitAll(w.Assign(owners))
	}
	return nil
}

// firstOf is as many changes as are under way together: the rest has its turn later.
func firstOf(changes []decide.Change) []decide.Change {
	return changes[:min(len(changes), commitsAtOnce)]
}

// confirm reads the records of orphans again from the store where the snapshot may show
// records of different commits side by side: an old record beside a new claim must not be
// taken for one that was left behind.
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
