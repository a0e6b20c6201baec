package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Standing says how the records of a run stand in a snapshot.
type Standing int

const (
	Behind  Standing = iota // the snapshot is older than the claim
	Ours                    // the record is there, and it is this run's
	Foreign                 // it is gone, or somebody else's
)

// Standing compares a run with its item. fired is rewritten by every claim, so as long as
// it is what this run's claim wrote, running is this run's too.
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

// Finish removes the records of runs that are done. With misfire on an item whose tick
// came meanwhile is begun again in the same commit; with misfire off that tick is passed
// over. owners is who should own the items, as far as it is known; it matters only if
// [World.MayMakeUp].
func (w *World) Finish(k *Work, runs []*Run, owners []string) []Change {
	c := changes{step: "finish", head: []coord.Op{w.ifMine()}}
	again := w.claims("make up")
	for _, r := range runs {
		item := w.Item(r.Item)
		tick, ok := w.mayMakeUp(k, r)
		// An item that the leader would rather give to somebody else is let go: whoever gets
		// it makes up.
		if ok && r.Item < len(owners) && owners[r.Item] == w.Self.ID {
			claim := Claim{Item: r.Item, Source: Misfire, Tick: tick, Last: tick}
			ops := []coord.Op{
				coord.AtVersion(w.Job.ItemInstance(r.Item), item.Owner.Version),
				coord.Set(w.Job.Running(r.Item), []byte(w.Self.ID)), // both records are of one commit: see Orphan.IsTorn
				w.writeFired(&item, claim),
			}
			if item.Misfire || r.Flagged {
				ops = append(ops, coord.DeleteTree(w.Job.Misfire(r.Item)))
			}
			again.put(&item, claim, append(ops, w.complete(r)...)).Ends = r
			continue
		}
		part := c.add(r.Item, append(w.remove(r, &item), w.complete(r)...)...)
		part.Ends = r
		if w.passesWhileRunning(r, &item) {
			part.Passes = &Passed{w.LastTick(), WhileRunning}
		}
	}
	return append(c.list, again.list...)
}

// MayMakeUp reports whether some of the runs that are done are followed by another at
// once, if their items stay here.
func (w *World) MayMakeUp(k *Work, runs []*Run) bool {
	for _, r := range runs {
		if _, ok := w.mayMakeUp(k, r); ok {
			return true
		}
	}
	return false
}

// mayMakeUp says whether an item whose run has ended may be run again at once, for the
// ticks that came meanwhile, and for which tick. The record of the run is kept then.
func (w *World) mayMakeUp(k *Work, r *Run) (time.Time, bool) {
	tick, item := w.LastTick(), w.Item(r.Item)
	switch {
	case !w.Rules.Misfire, r.Failover, !w.IsActive(), item.Disabled, !w.owns(&item), item.Fired == nil, k.hasBegun(r.Item, tick):
		return time.Time{}, false
	case w.mayTakeOver() && len(w.claimableFailovers(k)) > 0:
		return time.Time{}, false // its thread goes to what was cut short before
	case item.Running == nil, (item.Running.Owner == 0) != w.Rules.Failover:
		return time.Time{}, false // its record would not be of the kind that is wanted now
	}
	// A tick that is due now came while the item ran.
	return tick, w.judgeTick(item.Fired.Tick, tick, true) == missed
}

// remove takes away what a run has left in the tree, if nobody has claimed the item since.
func (w *World) remove(r *Run, item *jobtree.Item) []coord.Op {
	ops := []coord.Op{w.closeFired(r, item), coord.DeleteTree(w.Job.Running(r.Item))}
	return append(ops, w.removeMarks(r)...)
}

// removeMarks takes away the marks of a failover.
func (w *World) removeMarks(r *Run) []coord.Op {
	if !r.Failover {
		return nil
	}
	return []coord.Op{coord.DeleteTree(w.Job.Failover(r.Item)), coord.DeleteTree(w.Job.Failovering(r.Item))}
}

// closeFired leaves the fired record as it is, or, with misfire off, moves it on over the
// ticks that came while the item ran. Either way nobody may have claimed the item since.
func (w *World) closeFired(r *Run, item *jobtree.Item) coord.Op {
	if w.passesWhileRunning(r, item) {
		return coord.SetAt(w.Job.Fired(r.Item), jobtree.EncodeFired(w.LastTick()), item.Fired.Version)
	}
	return w.ifUnclaimed(r.Item, item)
}

// passesWhileRunning reports whether a tick came while an item ran that nobody makes up for.
func (w *World) passesWhileRunning(r *Run, item *jobtree.Item) bool {
	tick := w.LastTick()
	return !w.Rules.Misfire && !r.Failover && tick.After(item.Fired.Tick) && tick.After(r.Last)
}

// complete says in the tree how a run has ended.
func (w *World) complete(r *Run) []coord.Op {
	if r.Completed == nil {
		return nil
	}
	return []coord.Op{coord.Put(w.Job.Completion(r.Item), jobtree.EncodeCompletion(*r.Completed))}
}

// ifUnclaimed is the condition that nobody has claimed an item since.
func (w *World) ifUnclaimed(i int, item *jobtree.Item) coord.Op {
	return coord.AtVersion(w.Job.Fired(i), item.Fired.Version)
}
