package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// EarlyTick returns the next tick if items may be claimed for it already, and otherwise when that will be
// (begins). Both are zero if nothing is claimed early. The lead is half of the time between two ticks at
// most, so that the other half is left for runs that take long.
func (w *World) EarlyTick() (tick, begins time.Time) {
	if w.Lead <= 0 {
		return time.Time{}, time.Time{}
	}
	next := w.nextTick()
	if next.IsZero() {
		return time.Time{}, time.Time{}
	}
	lead := w.Lead
	if last := w.LastTick(); !last.IsZero() {
		lead = min(lead, next.Sub(last)/2)
	}
	if begins = next.Add(-lead); begins.After(w.Now) {
		return time.Time{}, begins
	}
	return next, time.Time{}
}

// nextTick returns the next tick of the schedule, if items may be claimed for it before it comes; zero if not. Nothing is
// claimed early if once-listeners are told of ticks: the members of a tick are fixed when it comes.
func (w *World) nextTick() time.Time {
	if w.Rules.Jitter > 0 || !w.Rules.Monitor || w.Rules.Once || w.Rules.Ticks == nil || !w.IsScheduleEffective() || w.IsPaused() {
		return time.Time{}
	}
	if next := w.Ticks().Next(w.Now); next.After(w.Schedule.Since) {
		return next
	}
	return time.Time{}
}

// Early lists the items of this instance that may be claimed for the next tick: they are idle, nothing else is due for
// them, and no request waits for them: a backfill would never have its turn. Their runs begin when the tick comes.
func (w *World) Early(k *Work) []Due {
	next, _ := w.EarlyTick()
	if next.IsZero() || !w.IsActive() {
		return nil
	}
	var list []Due
	for i := range w.itemsToLookAt(w.itemCount()) {
		if item := &w.Items[i]; isIdle(k, i, item) && w.mayClaimEarly(k, i, item, next) {
			list = append(list, Due{i, next, Normal})
		}
	}
	return w.limitForBroadcast(list)
}

// mayClaimEarly reports whether an item that is idle may be claimed for the next tick.
func (w *World) mayClaimEarly(k *Work, i int, item *jobtree.Item, next time.Time) bool {
	return w.isRunnableHere(i, item) && !item.Misfire && item.Fired != nil && next.After(item.Fired.Tick) && !k.hasBegun(i, next) &&
		!w.beginsAsOther(k, i, next) && w.WaitingRequest(i) == nil && w.judge(i, item, w.LastTickOf(i)) == notDue
}

// NextTick returns the tick for which the commits that finish runs may claim their items again; zero if there is none:
// it comes within NextLead, and no request waits, nor anything that was cut short elsewhere: it would never find a thread.
func (w *World) NextTick() time.Time {
	if w.NextLead <= 0 || w.Rules.Broadcast || w.Mixed != nil || !w.IsActive() || len(w.FailoverItems) > 0 || w.HasRequests() {
		return time.Time{}
	}
	if next := w.nextTick(); !next.IsZero() && next.Sub(w.Now) <= w.NextLead {
		return next
	}
	return time.Time{}
}

// mayClaimNext reports whether the commit that finishes a run may claim its item for the next tick. Its running node is
// kept then.
func (w *World) mayClaimNext(k *Work, r *Run, next time.Time) bool {
	item := w.Item(r.Item)
	return !next.IsZero() && r.isOfTick() && !r.Failover && !r.Marked && r.Completed != nil && !r.NoCompletion && w.Kills[r.Item] == nil &&
		w.isOfRules(&item) && w.mayClaimEarly(k, r.Item, &item, next)
}

// isOfRules reports whether an item runs, and its record is as the rules have it: failover may have been switched since
// it was created, and then another commit has to create the next one.
func (w *World) isOfRules(item *jobtree.Item) bool {
	return item.Running != nil && (item.Running.Owner == 0) == w.Rules.Failover
}

// MayKeepEarlyClaim reports whether a run that was claimed early may go on waiting for its tick: the item
// is still this instance's, the tick is still the next one, the job is not paused, and nobody wants the item to run at once.
func (w *World) MayKeepEarlyClaim(r *Run) bool {
	item := w.Item(r.Item)
	return w.IsActive() && !item.Disabled && w.owns(&item) && w.IsScheduleEffective() && !w.IsPaused() && w.Rules.Ticks != nil &&
		w.Ticks().Next(w.Now).Equal(r.Tick) && !w.isRequestNext(r.Item)
}
