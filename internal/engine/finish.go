package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// discrepancies are differences between what the view shows and what runs here. As long as they have not lasted
// for a while they may only mean that the view is late.
type discrepancies struct {
	unseen     clocks.Condition // the view lacks the claim of a run: the step restore
	unrestored clocks.Condition // the view has the claim, but running is missing: the step restore
	unsettled  clocks.Condition // the view has leftovers: the step settle
	// How many syncs there must have been before claims that lack their request are settled, or marked for failover;
	// 0 if there are none.
	settleSync, failoverSync int
}

// settleAfter is how long a difference may mean that the view is late.
const settleAfter = time.Second

// finish removes the records of runs that are done. It waits for the other runs of the same
// claim until batchUntil at most, so that one commit ends them all.
func (c *controller) finish(w *decide.World) error {
	if len(c.unrecordedEnds) > 0 {
		c.commits.All(w.EndUnmonitored(c.unrecordedEnds))
	}
	ready, back, isOpen := c.finished(w)
	for _, r := range back {
		c.commits.All(w.ReleaseClaims([]*decide.Run{r}))
	}
	if w.Moment.Before(c.batchUntil) && (len(ready) == 0 || isOpen && !c.isLeaving()) {
		c.partialPassIn(c.batchUntil.Sub(w.Moment))
		return nil
	}
	c.batchUntil = clocks.Moment{} // nothing waits again until another handler has returned
	if len(ready) > 0 {
		c.commits.All(c.finishes(w, ready))
		c.noteAllClaimed(w)
	}
	return nil
}

// finished sorts the runs that are done. ready are those whose records can be removed, back those whose
// claims are released. Runs that have no record any more are forgotten. isOpen reports whether other runs
// of the same claims are not done.
func (c *controller) finished(w *decide.World) (ready, back []*decide.Run, isOpen bool) {
	c.done = slices.DeleteFunc(c.done, func(r *run) bool { return c.runs[r.Item] != r })
	slices.SortFunc(c.done, func(a, b *run) int { return cmp.Compare(a.Item, b.Item) })
	for _, r := range c.done {
		if (c.isLeaving() || c.registration == unsound) && r.isUnfinished() {
			continue // its record stays: this instance hands it over when it goes, or others recover it
		}
		isOpen = isOpen || r.group.open > 0
		switch standing := w.RecordOwner(&r.Run); {
		case standing == decide.NotOurs, standing == decide.ViewBehind && r.syncs < c.commits.Syncs():
			c.forgetRun(r) // if it is Behind: the view has caught up since, so the item is gone
		case standing == decide.ViewBehind:
		case r.ending.Err == errReleased: // errors.Is would call methods of the handler's error
			back = append(back, &r.Run)
		default:
			ready = append(ready, &r.Run)
		}
	}
	return ready, back, isOpen
}

// finishes returns the changes that finish runs. Only claiming their items again needs to know who should own them. If
// the strategy fails, nothing is claimed again here, and the leader reports it.
func (c *controller) finishes(w *decide.World, runs []*decide.Run) []decide.Change {
	if c.pool.Threads != nil || len(c.backlog) > 0 || c.claimable() < len(runs) {
		w.NextLead = 0 // threads are not for those that wait for their tick
	}
	var owners []string
	// If jobs share threads, others may have been waiting for these for longer.
	if w.MayClaimAgain(c.work, runs) && c.pool.Threads.Reserve(len(runs)) == len(runs) {
		owners, _ = c.desired(w)
	}
	return w.Finish(c.work, runs, owners)
}

// restore compares what runs here with its records. If somebody else has claimed the item since, or the item is
// gone, the run's context ends. If an external writer has removed or changed the record, it is written again.
func (c *controller) restore(w *decide.World) error {
	isBehind, isMissing := false, false
	var lost []*decide.Run
	for _, i := range c.itemsWithRuns(w.Dirty) {
		r := c.runs[i]
		standing := w.RecordOwner(&r.Run)
		if r.Instance != c.self.ID || !r.Recorded {
			continue
		}
		wasSynced := r.syncs < c.commits.Syncs()
		isBehind = isBehind || standing == decide.ViewBehind
		switch {
		case r.phase != exec.Executing:
		case standing == decide.NotOurs, standing == decide.ViewBehind && wasSynced:
			r.cancel(jobtype.ErrItemLost)
		case standing != decide.Ours, !w.LacksRunningNode(&r.Run):
		case wasSynced, w.Item(i).Running != nil:
			lost = append(lost, &r.Run)
		default:
			isMissing = true // or the view shows only a part of the claim
		}
	}
	isFull := w.Dirty == nil
	if isFull || isMissing {
		c.syncIfLasting(&c.discrepancies.unrestored, isMissing, w.Moment, commit.MinPause)
	}
	if isFull || isBehind {
		c.syncIfLasting(&c.discrepancies.unseen, isBehind, w.Moment, settleAfter)
	}
	if changes := w.Restore(lost); len(changes) > 0 && c.commits.All(changes) {
		c.reporter.Restored(len(lost))
		c.wakeIn(commit.MinPause) // who removes them again at once may do so before the view shows anything of it
	}
	return nil
}

// itemsWithRuns returns the items of a list that have runs here; nil is all. They are in ascending order.
func (c *controller) itemsWithRuns(items []int) []int {
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

// syncIfLasting makes the view catch up with the store when a difference has lasted for patience.
func (c *controller) syncIfLasting(s *clocks.Condition, holds bool, now clocks.Moment, patience time.Duration) {
	held := s.Track(holds, now)
	if !holds {
		return
	}
	if held >= patience {
		*s = clocks.Condition{}
		c.commits.SetStale()
	}
	c.wakeIn(max(patience-held, commit.MinPause))
}

// isSettledNow notes that the leftovers were compared with the store.
func (c *controller) isSettledNow() {
	c.discrepancies.unsettled, c.discrepancies.settleSync = clocks.Condition{}, 0
	c.commits.Confirm()
}

// settle ends leftovers: records that say that an item runs here although nothing does. It reads each
// again from the store first, because the view may be late.
func (c *controller) settle(w *decide.World) error {
	left := w.Leftovers(c.work)
	if len(left) == 0 && w.Dirty != nil {
		return nil // there may be leftovers among the other items
	}
	if len(left) == 0 {
		c.isSettledNow()
		return nil
	}
	c.commits.KeepFailures("settle")
	if held := c.discrepancies.unsettled.Track(true, w.Moment); !c.commits.IsUnconfirmed() && held < settleAfter {
		c.wakeIn(settleAfter - held)
		return nil
	}
	if slices.ContainsFunc(left, w.LacksRequest) && !c.commits.SyncedSince(&c.discrepancies.settleSync) {
		return nil
	}
	c.isSettledNow()
	c.wakeIn(settleAfter)
	for _, i := range left {
		change, ok := c.commits.Admit(w.Settle(c.work, i))
		if !ok {
			continue
		}
		running, err := c.reg.Get(c.session.Context(), c.job.Running(i))
		switch {
		case errors.Is(err, coord.ErrNoNode) || err == nil && string(running.Value) != w.Items[i].Running.ID:
		case err != nil:
			c.commits.Failed(change.Step, err)
			return nil
		default:
			c.commits.Commit(change)
		}
	}
	return nil
}
