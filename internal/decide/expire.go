package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Expires reports whether the job is to end at some time.
func (r *Rules) Expires() bool {
	return !r.ExpiresAt.IsZero() || r.ExpiryTicks > 0 || r.RemoveExpired
}

// endsBefore reports whether a schedule may end although its expressions have further ticks.
func (r *Rules) endsBefore() bool { return !r.ExpiresAt.IsZero() || r.ExpiryTicks > 0 }

// UpTo returns ticks without those after a time; all if it is zero.
func UpTo(end time.Time, ticks Ticks) Ticks {
	if ticks == nil || end.IsZero() {
		return ticks
	}
	return ending{ticks, end}
}

// ending is Ticks without those after end.
type ending struct {
	Ticks
	end time.Time
}

func (e ending) Next(t time.Time) time.Time {
	if next := e.Ticks.Next(t); !next.After(e.end) {
		return next
	}
	return time.Time{}
}

func (e ending) Prev(t time.Time) time.Time {
	if t.After(e.end) {
		t = e.end
	}
	return e.Ticks.Prev(t)
}

// Ticks returns the ticks of the job up to its end, as it is recorded; nil for a one-off job.
func (w *World) Ticks() Ticks {
	switch {
	case w.Rules.Ticks == nil || !w.Rules.endsBefore():
		return w.Rules.Ticks
	case w.isScheduleRecorded():
		return UpTo(w.Schedule.Until, w.Rules.Ticks)
	}
	return UpTo(w.Rules.ExpiresAt, w.Rules.Ticks)
}

// recordEnd adds to a schedule that is to be recorded when it ends. The count of its ticks goes on
// as long as the expression and the number are the same: whatever is paused meanwhile, and
// however calendars change. It is counted by the calendars as they are now.
func (w *World) recordEnd(d *jobtree.ScheduleDocument) {
	d.Until = w.Rules.ExpiresAt
	if w.Rules.ExpiryTicks == 0 {
		return
	}
	d.Counted = d.Since
	if s := w.Schedule; s != nil && s.ExpiryTicks == d.ExpiryTicks && w.hasSameExpressions(s, d) && !s.Counted.IsZero() && !w.isFuture(s.Counted) {
		d.Counted = s.Counted
	}
	d.Until = End(w.Rules.Ticks, w.Rules.ExpiresAt, d.Counted, w.Rules.ExpiryTicks)
}

// hasSameExpressions reports whether what is recorded and what is to be recorded have the same expressions.
func (w *World) hasSameExpressions(s *jobtree.Schedule, d *jobtree.ScheduleDocument) bool {
	return s.Cron == d.Cron && s.TimeZone == d.TimeZone || w.Former != nil && w.Former.SameExpressions
}

// End returns the last moment for which a job may have a tick: at, or the n-th tick after counted if that
// is earlier. Each of the two may be zero and is no bound then.
func End(ticks Ticks, at, counted time.Time, n int) time.Time {
	if n == 0 || ticks == nil {
		return at
	}
	if last := nthTick(ticks, counted, n); !last.IsZero() && (at.IsZero() || last.Before(at)) {
		return last
	}
	return at
}

// nthTick returns the n-th tick after a time; zero if there are fewer.
func nthTick(ticks Ticks, after time.Time, n int) time.Time {
	for ; n > 0 && !after.IsZero(); n-- {
		after = ticks.Next(after)
	}
	return after
}

// HasExpired reports whether the job has no tick to come, and is to end then. A one-off job
// expires at a time. A clock that is ahead of the store's makes no job expire before its time.
func (w *World) HasExpired() bool {
	if !w.Rules.Expires() || !w.IsScheduleEffective() {
		return false
	}
	now := w.earlierTime()
	if w.Rules.IsOneOff() {
		return !w.Rules.ExpiresAt.IsZero() && !now.Before(w.Rules.ExpiresAt)
	}
	return w.Ticks().Next(now).IsZero()
}

// ExpiresIn returns after how long the job expires although no tick comes then; 0 if it does not, or has.
// A one-off job has no ticks. By a clock that is ahead of the store's the last tick has come earlier.
func (w *World) ExpiresIn() time.Duration {
	switch {
	case !w.Rules.Expires() || !w.IsScheduleEffective() || w.HasExpired():
		return 0
	case w.Rules.IsOneOff():
		if w.Rules.ExpiresAt.IsZero() {
			return 0
		}
		return w.Rules.ExpiresAt.Sub(w.earlierTime())
	case !w.Ticks().Next(w.Now).IsZero():
		return 0
	}
	return w.Ticks().Prev(w.Now).Sub(w.earlierTime())
}

// earlierTime returns the local time, or the store's if that is certainly earlier.
func (w *World) earlierTime() time.Time {
	if store := w.correctedTime(); store.Before(w.Now) {
		return store
	}
	return w.Now
}

// lastItems is how many items may be left when the rest of a job is removed in one commit.
const lastItems = 20

// IsRemovable reports whether the job has expired, is to be removed then, and has nothing left to do.
func (w *World) IsRemovable(k *Work) bool {
	return w.Rules.RemoveExpired && w.HasExpired() && w.isFinished(k)
}

// isFinished reports whether nothing of a job that has expired is left to be done, as far as the snapshot
// shows: no item runs, is claimed, awaits failover, or is to be made up; no request, trigger or tick of
// once-listeners is there, not even a request that is kept for those who wait for it. JVM members know no
// end, so a job that has any is not finished; nor is one that is paused, nor one whose items nobody may
// have: it would go without a run before a fault could say why.
func (w *World) isFinished(k *Work) bool {
	if w.IsPaused() || w.isOwnClockFar() || w.AnyJVM() != "" || len(k.Runs) > 0 ||
		len(w.FailoverItems) > 0 || len(w.Requests) > 0 || len(w.Triggers) > 0 || len(w.Guarantees) > 0 {
		return false
	}
	tick := w.LastTick()
	for i := range w.Items {
		item := &w.Items[i]
		if item.Running != nil || item.Failovering != nil || item.Failover != nil || item.Misfire {
			return false
		}
		isNobodys := w.Rules.Broadcast && item.Owner == nil
		if i < w.Rules.Total && item.Fired != nil && !isNobodys && tick.After(item.Fired.Tick) {
			return false // with jitter, it may be to begin only later
		}
	}
	return tick.IsZero() || !w.hasUnassigned()
}

// hasUnassigned reports whether an item was never assigned, because no instance may have it. Of the items
// that Expire removes in parts the first ones stay until the end, and the pins of the others go with them.
// In a broadcast job it is enough that an instance has had the first item.
func (w *World) hasUnassigned() bool {
	if w.Rules.Broadcast {
		return !w.Item(0).Exists
	}
	for i := range w.Rules.Total {
		if (i < lastItems || w.Pins[i] != nil) && !w.Item(i).Exists {
			return true
		}
	}
	return false
}

// Expire removes, as leader, a job that has expired and is to be removed then, and notes that it was removed. If
// it has many items they go first, in parts, and then the count of requests. Whoever leads next goes on with that; if somebody asks for a run, or
// changes the configuration, meanwhile, the items are assigned again.
//
// The conditions are that all is still as in the snapshot, item by item: nobody has claimed it, and
// it does not wait to be run again. Nobody has asked for anything.
func (w *World) Expire(k *Work) []Change {
	if !w.IsRemovable(k) {
		return nil
	}
	var items []int
	for i := range w.Items {
		if w.Items[i].Exists {
			items = append(items, i)
		}
	}
	if len(items) > lastItems {
		c := changes{w: w, step: "expire", head: (*World).ifExpired}
		for _, i := range items[lastItems:] {
			ops := append(w.ifUntouched(i), coord.DeleteTree(w.Job.Item(i)), coord.DeleteTree(w.Job.Cursor(i)))
			if w.Pins[i] != nil {
				ops = append(ops, coord.DeleteTree(w.Job.Pin(i)))
			}
			c.add(i, ops...)
		}
		return c.list
	}
	if w.RequestCount != nil {
		// A snapshot may show the count without the newest request. The store deletes no node that has children.
		c := changes{w: w, step: "expire", head: (*World).ifExpired}
		c.add(NoItem, coord.Delete(w.Job.Requests()))
		return c.list
	}
	ops := w.ifExpired()
	for _, i := range items {
		ops = append(ops, w.ifUntouched(i)...)
	}
	note := jobtree.RemovalDocument{At: w.correctedTime(), Revision: w.Rules.Revision, Expired: true}
	return []Change{{Step: "expire", Ops: append(ops, coord.Put(w.Job.Removal(), jobtree.EncodeRemoval(note)), coord.DeleteTree(w.Job.Root()))}}
}

// ifExpired are the conditions that a job is to be removed.
func (w *World) ifExpired() []coord.Op {
	if w.RequestCount == nil {
		return append(w.ifLeading(), w.ifSameSchedule(), coord.Absent(w.Job.Requests()))
	}
	return append(w.ifLeading(), w.ifSameSchedule(), coord.AtVersion(w.Job.Requests(), w.RequestCount.Version))
}

// ifUntouched are the conditions that nobody has claimed an item since the snapshot, and that it does not wait to
// be run again. A snapshot may show a part of a commit: so it is not enough that it shows no run.
func (w *World) ifUntouched(i int) []coord.Op {
	return []coord.Op{coord.Absent(w.Job.Running(i)), coord.Absent(w.Job.FailoverItem(i)), w.ifUnclaimed(i, &w.Items[i])}
}
