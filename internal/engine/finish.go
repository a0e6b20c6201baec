package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// doubts are differences between what the view shows and what runs here. For a while they
// may only mean that the view is late.
type doubts struct {
	unseen     since // the view lacks the claim of a run: the step restore
	unrestored since // the view has the claim, but running is missing: the step restore
	unsettled  since // the view has leftovers: the step settle
	suspicious bool  // the answer to a commit was lost: failed sets it; settle and begin clear it
	// How many syncs there must have been before claims are settled, or recovered, that lack their request;
	// 0 if none do. settle and recover change it.
	settledBy, recoveredBy int
}

// isShown makes the view catch up, and reports whether it has since it was asked first. It may have shown a
// commit in parts before.
func (c *controller) isShown(by *int) bool {
	if *by == 0 {
		c.stale, *by = true, c.syncs+1
	}
	return c.syncs >= *by
}

// settleAfter is how long a difference may mean that the view is late.
const settleAfter = time.Second

// finish removes the records of runs that are done. It waits for the other runs of the same
// claim, but not for long (lingering), so that one commit can do for all.
func (c *controller) finish(w *decide.World) error {
	c.endUnended(w)
	ready, back, isOpen := c.finished(w)
	for _, r := range back {
		c.commitAll(w.ReleaseClaims([]*decide.Run{r}))
	}
	if w.Moment.Before(c.lingering) && (len(ready) == 0 || isOpen && !c.isLeaving()) {
		c.finishIn(c.lingering.Sub(w.Moment))
		return nil
	}
	c.lingering = clocks.Moment{} // nothing waits again until another handler has returned
	if len(ready) > 0 {
		c.commitAll(c.finishes(w, ready))
	}
	return nil
}

// finished sorts the runs that are done. ready are those whose records can be removed, back
// those that are released. Runs that have no record any more are dropped. isOpen reports
// whether other runs of the same claims are not done.
func (c *controller) finished(w *decide.World) (ready, back []*decide.Run, isOpen bool) {
	c.done = slices.DeleteFunc(c.done, func(r *run) bool { return c.runs[r.Item] != r })
	slices.SortFunc(c.done, func(a, b *run) int { return cmp.Compare(a.Item, b.Item) })
	for _, r := range c.done {
		if (c.isLeaving() || c.registration == unsound) && r.isUnfinished() {
			continue // its record stays: this instance hands it over when it goes, or others recover it
		}
		isOpen = isOpen || r.group.open > 0
		switch standing := w.Standing(&r.Run); {
		case standing == decide.Foreign, standing == decide.Behind && r.syncs < c.syncs:
			c.drop(r) // if it is Behind: the view has caught up since, so the item is gone
		case standing == decide.Behind:
		case r.ending.err == errReleased: // errors.Is would call methods of the handler's error
			back = append(back, &r.Run)
		default:
			ready = append(ready, &r.Run)
		}
	}
	return ready, back, isOpen
}

// finishes returns the changes that finish runs. Only making up needs to know who should own
// the items. If the strategy fails, nothing is made up here, and the leader reports it.
func (c *controller) finishes(w *decide.World, runs []*decide.Run) []decide.Change {
	var owners []string
	// If jobs share threads, others may have been waiting for these for longer.
	if w.MayMakeUp(c.work, runs) && c.pool.Threads.Reserve(len(runs)) == len(runs) {
		owners, _ = c.desired(w)
	}
	return w.Finish(c.work, runs, owners)
}

// restore compares what runs here with its records. If somebody else has claimed the item
// since, or the item is gone, the run's context ends. If an external writer has removed or changed
// the record, it is written again.
func (c *controller) restore(w *decide.World) error {
	isBehind, isMissing := false, false
	var lost []*decide.Run
	for _, i := range c.runsOf(w.Narrow) {
		r := c.runs[i]
		standing := w.Standing(&r.Run)
		if r.Instance != c.self.ID || !r.Recorded {
			continue
		}
		wasSynced := r.syncs < c.syncs
		isBehind = isBehind || standing == decide.Behind
		switch {
		case r.phase != executing:
		case standing == decide.Foreign, standing == decide.Behind && wasSynced:
			r.cancel(ErrItemLost)
		case standing != decide.Ours, !w.IsUnrecorded(&r.Run):
		case wasSynced, w.Item(i).Running != nil:
			lost = append(lost, &r.Run)
		default:
			isMissing = true // or the view shows only a part of the claim
		}
	}
	if isNarrow := w.Narrow != nil; !isNarrow || isMissing {
		c.doubt(&c.unrestored, isMissing, w.Moment, firstPause)
	}
	if isNarrow := w.Narrow != nil; !isNarrow || isBehind {
		c.doubt(&c.unseen, isBehind, w.Moment, settleAfter)
	}
	if changes := w.Restore(lost); len(changes) > 0 && c.commitAll(changes) {
		if n := c.logged.restored.Add(len(lost)); n > 0 {
			c.log.Warn("somebody else has removed or changed the records of runs; they are put back", zap.Int("runs", n))
		}
		c.wakeIn(firstPause) // who removes them again at once may do so before the view shows anything of it
	}
	return nil
}

// runsOf returns the items of a list that have runs here; nil is all. They are in ascending
// order.
func (c *controller) runsOf(items []int) []int {
	if len(c.runs) == 0 {
		return nil
	}
	if items == nil {
		return slices.Sorted(maps.Keys(c.runs))
	}
	var list []int
	for _, i := range items {
		if c.runs[i] != nil {
			list = append(list, i)
		}
	}
	return list
}

// doubt makes the view catch up when a difference has lasted for patience.
func (c *controller) doubt(s *since, holds bool, now clocks.Moment, patience time.Duration) {
	held := s.hold(holds, now)
	if !holds {
		return
	}
	if held >= patience {
		*s, c.stale = since{}, true
	}
	c.wakeIn(max(patience-held, firstPause))
}

// settle looks after leftovers: records that say that an item runs here although nothing
// does. It reads each again from the store first, because the view may be late.
func (c *controller) settle(w *decide.World) error {
	left := w.Leftovers(c.work)
	if len(left) == 0 && w.Narrow != nil {
		return nil // others may be left
	}
	if len(left) == 0 {
		c.unsettled, c.suspicious, c.settledBy = since{}, false, 0
		return nil
	}
	c.troubles.want("settle", c.passes)
	if held := c.unsettled.hold(true, w.Moment); !c.suspicious && held < settleAfter {
		c.wakeIn(settleAfter - held)
		return nil
	}
	if slices.ContainsFunc(left, w.LacksRequest) && !c.isShown(&c.settledBy) {
		return nil
	}
	c.unsettled, c.suspicious, c.settledBy = since{}, false, 0
	c.wakeIn(settleAfter)
	for _, i := range left {
		change, ok := c.admit(w.Settle(c.work, i))
		if !ok {
			continue
		}
		running, err := c.reg.Get(c.session.Context(), c.job.Running(i))
		switch {
		case errors.Is(err, coord.ErrNoNode) || err == nil && string(running.Value) != w.Items[i].Running.ID:
		case err != nil:
			c.failed(change.Step, err)
			return nil
		default:
			c.commit(change)
		}
	}
	return nil
}
