package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// RecordOwner says whose the record of an item is, compared with a run of it here.
type RecordOwner int

const (
	ViewBehind RecordOwner = iota // the snapshot is older than the claim of the run
	Ours                          // nobody has claimed the item since: the record is the run's
	NotOurs                       // the record is gone, or somebody has claimed the item since
)

// RecordOwner compares a run with its item. Every claim rewrites fired: as long as fired is what the claim
// of this run wrote, running belongs to this run, too.
func (w *World) RecordOwner(r *Run) RecordOwner {
	fired := w.Item(r.Item).Fired
	switch {
	case !r.Recorded, r.Instance != w.Self.ID:
		return NotOurs
	case fired == nil || fired.Modified < r.Token:
		return ViewBehind
	case fired.Modified > r.Token:
		return NotOurs
	}
	return Ours
}

// Finish ends runs that are done (see ends.go). The same commit may claim the item again: if a tick came meanwhile and
// misfire is on (makeUp), or if the next one comes soon ([World.NextTick]). owners is the strategy's answer,
// or nil; it is needed only if [World.MayClaimAgain].
func (w *World) Finish(k *Work, runs []*Run, owners []string) []Change {
	c := changes{w: w, step: "finish", urgency: urgency.Soonest, head: (*World).sessionHead}
	again := w.tickClaims("claim again")
	again.urgency = urgency.Sooner
	claimAgain := w.claimsAgain(k)
	for _, r := range runs {
		item := w.Item(r.Item)
		// An item that the leader is to give to another instance is not claimed again here: its new owner does so.
		if claim, ok := claimAgain(r); ok && w.staysHere(r.Item, claim.Source, owners) {
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
			again.put(&item, claim, append(ops, w.completionOps(r)...)).Ends = r
			continue
		}
		ops, skips := w.removeRecord(r, &item)
		if w.Kills[r.Item] != nil {
			ops = append(ops, coord.DeleteTree(w.Job.Kill(r.Item)))
		}
		switch {
		case r.Completed == nil:
		case w.wasAddedForFailover(r, &item):
			ops = append(ops, coord.AtVersion(w.Job.FailoverItem(r.Item), w.failoverItem(r.Item).Version))
		case r.Completed.Outcome == jobtree.OutcomeKilled && w.Killed(r) && w.isRunAgain(r.Item, r.Token) && !w.purposeOf(r).isOver:
			ops = append(ops, w.addFailoverItem(r.Item, w.purposeOf(r), r.Tick, r.firstTaskID())...)
		default:
			ops = append(ops, w.endProgress(r, *r.Completed)...)
			ops = append(ops, w.recordRunEnd(r)...)
		}
		if skips != nil {
			ops = append(ops, w.recordMemberEnd(r.Item, skips.Tick, jobtree.OutcomeSkipped)...)
		}
		part := c.add(r.Item, append(ops, w.completionOps(r)...)...)
		part.Ends, part.Skips = r, skips
	}
	return append(c.list, again.list...)
}

// staysHere reports whether an item stays with this instance by the strategy's answer. The next tick does not need it if
// there is no other instance.
func (w *World) staysHere(item int, source Source, owners []string) bool {
	return source == Normal && len(w.Instances) == 1 || item < len(owners) && owners[item] == w.Self.ID
}

// MayClaimAgain reports whether an item of these runs may be claimed again at once if it stays with this instance, and
// only the strategy can tell.
func (w *World) MayClaimAgain(k *Work, runs []*Run) bool {
	claimAgain := w.claimsAgain(k)
	return slices.ContainsFunc(runs, func(r *Run) bool {
		claim, ok := claimAgain(r)
		return ok && !w.staysHere(r.Item, claim.Source, nil)
	})
}

// claimsAgain returns a function that says what the commit that finishes a run may claim its item for. What is the same
// for all runs is found only once: there may be thousands of runs, and of items that await failover.
func (w *World) claimsAgain(k *Work) func(*Run) (Claim, bool) {
	// With once-listeners the next pass makes up: the tick may have to be told of first. If items await failover, threads
	// go to them.
	makesUp := w.Rules.Misfire && !w.Rules.Once && !w.Rules.SkipOverlap && w.IsActive() && !w.IsPaused() && w.JVMReshardWait() <= 0 &&
		!(w.mayFailOver() && len(w.claimableFailovers(k)) > 0)
	next := w.NextTick()
	return func(r *Run) (Claim, bool) {
		if makesUp {
			if tick, ok := w.mayMakeUp(k, r); ok {
				return Claim{Item: r.Item, Source: Misfire, Tick: tick, Last: tick}, true
			}
		}
		return Claim{Item: r.Item, Source: Normal, Tick: next, Last: next}, w.mayClaimNext(k, r, next)
	}
}

// mayMakeUp reports whether an item whose run is done may be claimed again in the commit that finishes the
// run, and returns the tick for which. Its running node is kept then.
func (w *World) mayMakeUp(k *Work, r *Run) (time.Time, bool) {
	tick, item := w.LastTickOf(r.Item), w.Item(r.Item)
	switch {
	case r.Failover, !w.isRunnableHere(r.Item, &item), w.Kills[r.Item] != nil, item.Fired == nil, k.hasBegun(r.Item, tick), w.beginsAsOther(k, r.Item, tick), k.isWaitingOnTime(r.Item, tick):
		return time.Time{}, false // the next pass does
	case w.isRequestNext(r.Item), w.mayFailOver() && w.awaitsFailover(r.Item):
		return time.Time{}, false // a job that is always late would never have time for it
	case !w.isOfRules(&item):
		return time.Time{}, false
	}
	// flagged, because a tick that is due now came while the item ran.
	return tick, w.judgeTick(item.Fired.Tick, tick, tick, true) == makeUp
}

// wasAddedForFailover reports whether the end of a run that was killed has been committed, although its
// answer was lost: the record and the kill are gone, and the item has awaited failover since its claim.
func (w *World) wasAddedForFailover(r *Run, item *jobtree.Item) bool {
	f := w.failoverItem(r.Item)
	return r.Completed.Outcome == jobtree.OutcomeKilled && item.Running == nil && f != nil && f.Modified > r.Token
}
