package engine

import (
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/assign"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// elect makes this instance the leader if there is none and it is this instance's turn.
func (c *controller) elect(w *decide.World) error {
	c.assigner.Reset()
	c.fault(jobtype.FaultStrategy, nil) // only a leader has it
	if left := w.ElectionDelay() - w.Leaderless; left > 0 && !w.LeaderIsAlive() && w.MayLead() {
		c.wakeIn(left)
	}
	if change := w.Elect(); change != nil {
		c.elected = true // or may be
		c.commits.Commit(*change)
	}
	return nil
}

// abdicate gives leadership up if this instance may not lead any more.
func (c *controller) abdicate(w *decide.World) error {
	if change := w.Abdicate(); change != nil {
		c.commits.Commit(*change)
		c.blocked = true // even if it has failed: this instance must not lead
	}
	return nil
}

// markForFailover removes the records of orphans. With failover on their items await failover then.
func (c *controller) markForFailover(w *decide.World) error {
	if !c.jvm.MayMarkForFailover(w) {
		return nil
	}
	orphans := w.Orphans()
	lacks := func(o decide.Orphan) bool { return w.LacksRequest(o.Item) }
	switch {
	case !slices.ContainsFunc(orphans, lacks):
		c.discrepancies.failoverSync = 0
	case !c.commits.SyncedSince(&c.discrepancies.failoverSync):
		orphans = slices.DeleteFunc(orphans, lacks)
	}
	if orphans = c.confirm(orphans); len(orphans) > 0 && c.commits.All(w.MarkForFailover(orphans)) {
		c.reporter.Recovered(w, orphans)
		c.blocked = true
	}
	return nil
}

// assign writes who owns each item, as the strategy says.
func (c *controller) assign(w *decide.World) error {
	s := c.strategy()
	if !c.settings.StaticSharding && c.assigner.IsSettled(w.Moment, s) {
		c.fault(jobtype.FaultStrategy, nil)
		return nil
	}
	c.assigner.MarkPending()
	if c.commits.IsStale() && w.IsBounded() {
		return nil // who has what must be known
	}
	owners, err := c.assigner.Owners(c.session.Context(), w, s)
	if errors.Is(err, assign.ErrNotAnswered) {
		return nil
	}
	c.fault(jobtype.FaultStrategy, err)
	if owners == nil && err != nil {
		return nil
	}
	changes := w.Assign(owners)
	wait := w.AssignWait(owners)
	if wait > 0 {
		c.wakeIn(wait)
	}
	c.commits.All(changes)
	if len(changes) > 0 && w.IsBounded() {
		c.commits.SetStale() // the next assignment goes on by a view that shows who has what
	}
	c.assigner.Assigned(w, s, assign.Outcome{Owners: owners, Err: err, Changes: len(changes), Waits: wait > 0})
	return nil
}

// strategy is the one of the effective configuration.
func (c *controller) strategy() assign.Strategy {
	return assign.Strategy{Name: c.settings.Strategy, Strategy: c.settings.Sharding}
}

// desired returns who should own each item: see assign.Assigner.
func (c *controller) desired(w *decide.World) ([]string, error) {
	return c.assigner.Desired(c.session.Context(), w, c.strategy())
}

// confirm returns the orphans that are certain. The snapshot may show records of different commits side by
// side (decide.Orphan.IsTorn): an old record beside a new claim is no orphan. So torn ones are read again
// from the store.
func (c *controller) confirm(orphans []decide.Orphan) []decide.Orphan {
	const step = "confirm"
	if !slices.ContainsFunc(orphans, decide.Orphan.IsTorn) {
		return orphans
	}
	mayRead := c.commits.MayAttempt(step)
	isThere := make([]bool, len(orphans))
	errs := make([]error, len(orphans))
	c.commits.ForEach(len(orphans), func(i int) {
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
		c.commits.Failed(step, errs[i])
	case len(confirmed) < len(orphans):
		c.commits.ViewIsLate(step, "shows records of runs that are no more")
	default:
		c.commits.Succeeded(step)
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
