package decide

import "time"

// EarlyTick returns the next tick if items may be claimed for it already, and otherwise when that will be
// (begins). Both are zero if nothing is claimed early. The lead is half of the time between two ticks at
// most, so that the other half is left for runs that take long. Nothing is early if once-listeners are
// told of ticks: the members of a tick are fixed when it comes.
func (w *World) EarlyTick() (tick, begins time.Time) {
	if w.Lead <= 0 || w.Rules.Jitter > 0 || !w.Rules.Monitor || w.Rules.Once || w.Rules.Ticks == nil || !w.IsScheduleEffective() || w.IsPaused() {
		return time.Time{}, time.Time{}
	}
	next := w.Ticks().Next(w.Now)
	if next.IsZero() || !next.After(w.Schedule.Since) {
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

// Early lists the items of this instance that may be claimed for the next tick: they are idle, nothing else is due for
// them, and no request waits for them: a backfill would never have its turn. Their runs begin when the tick comes.
func (w *World) Early(k *Work) []Due {
	next, _ := w.EarlyTick()
	if next.IsZero() || !w.IsActive() {
		return nil
	}
	var list []Due
	for i := range w.itemsToLookAt(w.itemCount()) {
		item := &w.Items[i]
		if !w.isRunnableHere(i, item) || item.Misfire || item.Fired == nil || !isIdle(k, i, item) || k.hasBegun(i, next) || w.beginsAsOther(k, i, next) || w.WaitingRequest(i) != nil {
			continue
		}
		if next.After(item.Fired.Tick) && w.judge(i, item, w.LastTickOf(i)) == notDue {
			list = append(list, Due{i, next, Normal})
		}
	}
	return w.limitForBroadcast(list)
}

// MayKeepEarlyClaim reports whether a run that was claimed early may go on waiting for its tick: the item
// is still this instance's, the tick is still the next one, and the job is not paused.
func (w *World) MayKeepEarlyClaim(r *Run) bool {
	item := w.Item(r.Item)
	return w.IsActive() && !item.Disabled && w.owns(&item) && w.IsScheduleEffective() && !w.IsPaused() && w.Rules.Ticks != nil &&
		w.Ticks().Next(w.Now).Equal(r.Tick)
}
