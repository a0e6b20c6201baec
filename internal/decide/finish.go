package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Standing says whose the record of an item is, compared with a run of it here.
type Standing int

const (
	Behind  Standing = iota // the snapshot is older than the claim of the run
	Ours                    // nobody has claimed the item since: the record is the run's
	Foreign                 // the record is gone, or somebody has claimed the item since
)

// Standing compares a run with its item. Every claim rewrites fired. So while fired is what
// the claim of this run wrote, running belongs to this run, too.
func (w *World) Standing(r *Run) Standing {
	fired := w.Item(r.Item).Fired
	switch {
	case !r.Recorded, r.Instance != w.Self.ID:
		return Foreign
	case fired == nil || fired.Modified < r.Token:
		return Behind
	case fired.Modified > r.Token:
		return Foreign
	}
	return Ours
}

// Finish removes the records of runs that are done, and writes how they have ended. If a tick
// came meanwhile, it depends on misfire: if it is on, the same commit may claim the item
// again (make up); if it is off, the tick is skipped. owners is the strategy's answer,
// or nil; it is needed only if [World.MayMakeUp].
func (w *World) Finish(k *Work, runs []*Run, owners []string) []Change {
	c := changes{w: w, step: "finish", urgency: coord.Soonest, head: (*World).ifRunner}
	again := w.tickClaims("make up")
	again.urgency = coord.Sooner
	mayMakeUp := w.makeUps(k)
	for _, r := range runs {
		item := w.Item(r.Item)
		tick, ok := mayMakeUp(r)
		// An item that the leader is to give to another instance is not made up here: its new
		// owner makes up.
		if ok && r.Item < len(owners) && owners[r.Item] == w.Self.ID {
			claim := Claim{Item: r.Item, Source: Misfire, Tick: tick, Last: tick}
			ops := []coord.Op{
				coord.AtVersion(w.Job.ItemInstance(r.Item), item.Owner.Version),
				coord.Set(w.Job.Running(r.Item), []byte(w.Self.ID)), // so that running and fired are of one commit: see Orphan.IsTorn
				w.writeFired(&item, claim),
			}
			if item.Misfire || r.Marked {
				ops = append(ops, coord.DeleteTree(w.Job.Misfire(r.Item)))
			}
			if r.Completed != nil {
				ops = append(ops, w.endProgress(r, *r.Completed)...)
			}
			again.put(&item, claim, append(ops, w.complete(r)...)).Ends = r
			continue
		}
		ops := append(w.remove(r, &item), w.endKill(r)...)
		switch {
		case r.Completed == nil:
		case w.isPutUp(r, &item):
			ops = append(ops, coord.AtVersion(w.Job.FailoverItem(r.Item), w.waiting(r.Item).Version))
		case r.Completed.Outcome == jobtree.OutcomeKilled && w.Killed(r) && w.goesOn(r.Item, r.Token) && !w.purposeOf(r).isOver:
			ops = append(ops, w.putUp(r.Item, w.purposeOf(r), r.Tick, r.first())...)
		default:
			ops = append(ops, w.endProgress(r, *r.Completed)...)
			ops = append(ops, w.endsMember(r)...)
		}
		if w.passesWhileRunning(r, &item) {
			ops = append(ops, w.endMember(r.Item, w.LastTickOf(r.Item), jobtree.OutcomeSkipped)...)
		}
		part := c.add(r.Item, append(ops, w.complete(r)...)...)
		part.Ends, part.Skips = r, w.skipsOf(r, &item)
	}
	return append(c.list, again.list...)
}

// MayMakeUp reports whether an item of these runs may be claimed again at once, if it stays
// with this instance.
func (w *World) MayMakeUp(k *Work, runs []*Run) bool {
	mayMakeUp := w.makeUps(k)
	return slices.ContainsFunc(runs, func(r *Run) bool {
		_, ok := mayMakeUp(r)
		return ok
	})
}

// makeUps returns mayMakeUp. What is the same for all runs is found once: there may be
// thousands of runs, and of items that wait.
func (w *World) makeUps(k *Work) func(*Run) (time.Time, bool) {
	// With once-listeners the next pass does: the tick may have to be told of first.
	if !w.Rules.Misfire || w.Rules.Once || w.Rules.SkipOverlap || !w.IsActive() || w.IsPaused() || w.HeldForJVM() > 0 || w.mayTakeOver() && len(w.claimableFailovers(k)) > 0 { // then threads go to items that were cut short elsewhere
		return func(*Run) (time.Time, bool) { return time.Time{}, false }
	}
	return func(r *Run) (time.Time, bool) { return w.mayMakeUp(k, r) }
}

// mayMakeUp reports whether an item whose run is done may be claimed again in the commit that
// finishes the run, and returns the tick for which. Its running node is kept then.
func (w *World) mayMakeUp(k *Work, r *Run) (time.Time, bool) {
	tick, item := w.LastTickOf(r.Item), w.Item(r.Item)
	switch {
	case r.Failover, !w.mayBegin(r.Item, &item), w.Kills[r.Item] != nil, item.Fired == nil, k.hasBegun(r.Item, tick), w.beginsElse(k, r.Item, tick), k.hasWaited(r.Item, tick):
		return time.Time{}, false // the next pass does
	case w.isRequestNext(r.Item), w.mayTakeOver() && w.waitsAgain(r.Item):
		return time.Time{}, false // a job that is always late would never have time for it
	case item.Running == nil, (item.Running.Owner == 0) != w.Rules.Failover:
		return time.Time{}, false // running is missing, or failover was switched since it was created
	}
	// flagged, because a tick that is due now came while the item ran.
	return tick, w.judgeTick(item.Fired.Tick, tick, tick, true) == missed
}

// remove returns the operations that remove the record and the marks of a run, if nobody has
// claimed the item since.
func (w *World) remove(r *Run, item *jobtree.Item) []coord.Op {
	ops := append(w.closeFired(r, item), coord.DeleteTree(w.Job.Running(r.Item)))
	return append(ops, w.removeMarks(r)...)
}

// removeMarks returns the operations that remove the marks of a failover.
func (w *World) removeMarks(r *Run) []coord.Op {
	if !r.Failover {
		return nil
	}
	return []coord.Op{coord.DeleteTree(w.Job.Failover(r.Item)), coord.DeleteTree(w.Job.Failovering(r.Item))}
}

// closeFired returns the condition that nobody has claimed the item since. If a tick
// that came while the item ran is not made up, it also moves fired on over that.
func (w *World) closeFired(r *Run, item *jobtree.Item) []coord.Op {
	if w.passesWhileRunning(r, item) {
		return []coord.Op{
			coord.Exists(w.Job.Running(r.Item)),
			coord.SetAt(w.Job.Fired(r.Item), jobtree.EncodeFired(w.LastTickOf(r.Item)), item.Fired.Version),
		}
	}
	return []coord.Op{w.ifUnclaimed(r.Item, item)}
}

// skipsOf returns what closeFired skips; nil if that is nothing.
func (w *World) skipsOf(r *Run, item *jobtree.Item) *Skipped {
	if !w.passesWhileRunning(r, item) {
		return nil
	}
	return &Skipped{w.LastTickOf(r.Item), WhileRunning}
}

// passesWhileRunning reports whether a tick came while the item ran, and nobody makes it up. If
// ticks that overlap are skipped, so are those that came while the item waited to be run again.
// If the record is gone, a finish whose answer was lost has landed late, and the tick may have come
// after that.
func (w *World) passesWhileRunning(r *Run, item *jobtree.Item) bool {
	if item.Running == nil {
		return false
	}
	tick := w.LastTickOf(r.Item)
	isLeft := !w.Rules.Misfire && !r.Failover || w.Rules.SkipOverlap
	return isLeft && !w.isOwed(tick) && r.Source != Backfill && tick.After(item.Fired.Tick) && tick.After(r.Last)
}

// isPutUp reports whether the end of a run that was killed has been committed, although its answer was lost: the
// record and the kill are gone, and the item has been put up to be run again since its claim.
func (w *World) isPutUp(r *Run, item *jobtree.Item) bool {
	f := w.waiting(r.Item)
	return r.Completed.Outcome == jobtree.OutcomeKilled && item.Running == nil && f != nil && f.Modified > r.Token
}

// complete returns the operations that write how a run has ended; none if that is not known.
func (w *World) complete(r *Run) []coord.Op {
	if r.Completed == nil || r.Untold {
		return nil
	}
	return w.tell(r.Item, *r.Completed)
}

// tell returns the operations that write how the last run of an item has ended.
func (w *World) tell(i int, d jobtree.CompletionDocument) []coord.Op {
	return append(w.keepOutcome(i), coord.Put(w.Job.Completion(i), jobtree.EncodeCompletion(d)))
}

// ifUnclaimed is the condition that nobody has claimed an item since the snapshot.
func (w *World) ifUnclaimed(i int, item *jobtree.Item) coord.Op {
	return coord.AtVersion(w.Job.Fired(i), item.Fired.Version)
}
