package health

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxCounted bounds the ticks that are counted for an event or a log line.
const maxCounted = 1000

// Due tells observers that ticks have come.
func (r *Reporter) Due(w *decide.World) {
	if r.Unobserved() || r.instance != w.Self.ID || !w.IsRegistered() || w.IsPaused() {
		return
	}
	if r.tick.IsZero() || r.tick.After(w.Now.Add(decide.FutureTolerance)) { // the clock was far ahead: begin anew
		r.tick = w.Now
	}
	tick := w.LastTick()
	if !tick.After(r.tick) {
		return
	}
	from := r.tick
	if from.Before(w.Schedule.Since) {
		from = w.Schedule.Since
	}
	r.tick = tick
	e := r.Event(jobtype.EventDue, w.Self.ID)
	e.ScheduledTime, e.Count, e.Jitter = tick, ticksBetween(w, from, tick), w.Rules.Jitter
	r.Tell(e)
}

// itemEvent returns an event of ticks of an item.
func (r *Reporter) itemEvent(kind jobtype.EventKind, instance string, item, ticks int, last time.Time) jobtype.Event {
	e := r.Event(kind, instance)
	e.Item, e.Count, e.ScheduledTime = item, ticks, last
	return e
}

// Missed tells, as a run begins, of the ticks that its item has missed before: they are made up by
// the run, or skipped.
func (r *Reporter) Missed(w *decide.World, run *decide.Run, missed int) {
	if missed == 0 {
		return
	}
	e := r.itemEvent(jobtype.EventMadeUp, run.Instance, run.Item, missed, run.Tick)
	if !makesUp(w, &run.Claim) {
		e = r.itemEvent(jobtype.EventSkipped, run.Instance, run.Item, missed, tickBefore(w, run.Tick))
		e.Reason = jobtype.SkipTooLate
	}
	r.Tell(e)
}

// Skipped tells of ticks of an item that were skipped.
func (r *Reporter) Skipped(w *decide.World, item int, p decide.Skipped) {
	if !r.Unobserved() {
		r.Tell(r.skippedEvent(w, item, p))
	}
	r.ForgetSkip(item)
}

// skippedEvent returns what tells of ticks that are skipped.
func (r *Reporter) skippedEvent(w *decide.World, item int, p decide.Skipped) jobtype.Event {
	ticks := 1
	if fired := w.Item(item).Fired; fired != nil {
		ticks = ticksBetween(w, fired.Tick, p.Tick)
	}
	e := r.itemEvent(jobtype.EventSkipped, w.Self.ID, item, ticks, p.Tick)
	e.Reason = jobtype.SkipReason(p.Reason)
	return e
}

// unconfirmedSkip is a commit that skips ticks of an item, and whose answer was lost. If it has happened, observers
// have to be told.
type unconfirmedSkip struct {
	event jobtype.Event
	fired int64 // Modified of the item's fired before
	owner int64 // Modified of its owner: nobody else skips ticks while it is the same
}

// RememberSkip remembers that ticks of an item may have been skipped, by a commit whose answer was lost.
func (r *Reporter) RememberSkip(w *decide.World, item int, p decide.Skipped) {
	is := w.Item(item)
	if is.Fired == nil || is.Owner == nil || r.Unobserved() {
		return
	}
	r.ForgetSkip(item)
	r.unconfirmed = append(r.unconfirmed, unconfirmedSkip{r.skippedEvent(w, item, p), is.Fired.Modified, is.Owner.Modified})
}

// ForgetSkip forgets that ticks of an item may have been skipped.
func (r *Reporter) ForgetSkip(item int) {
	r.unconfirmed = slices.DeleteFunc(r.unconfirmed, func(u unconfirmedSkip) bool { return u.event.Item == item })
}

// ConfirmSkips tells observers of those unconfirmed skips that the tree shows by now, and forgets what is decided.
func (r *Reporter) ConfirmSkips(s *jobtree.State) {
	r.unconfirmed = slices.DeleteFunc(r.unconfirmed, func(u unconfirmedSkip) bool {
		item := s.Item(u.event.Item)
		if item.Fired != nil && item.Fired.Modified <= u.fired {
			return false // it has not happened yet, or the view is late
		}
		if item.Fired != nil && item.Fired.Tick.Equal(u.event.ScheduledTime) && item.Owner != nil && item.Owner.Modified == u.owner {
			r.Tell(u.event)
		}
		return true
	})
}

// makesUp reports whether a claim of the schedule makes up for the ticks that it leaves behind. A run that is on
// time does so if misfire is on; otherwise they are skipped.
func makesUp(w *decide.World, claim *decide.Claim) bool {
	return claim.Source == decide.Misfire || w.Rules.Misfire
}

// MissedBy returns how many missed ticks each claim leaves behind: for a make-up they include the tick
// that it is for, for a run that is on time they are those before.
func MissedBy(w *decide.World, claims []decide.Claim) []int {
	missed := make([]int, len(claims))
	var last decide.Claim
	ticks := 0
	for n, claim := range claims {
		if claim.Source != decide.Normal && claim.Source != decide.Misfire {
			continue
		}
		if ticks == 0 || !claim.Before.Equal(last.Before) || !claim.Tick.Equal(last.Tick) { // mostly they are the same
			last, ticks = claim, ticksBetween(w, claim.Before, claim.Tick)
		}
		if missed[n] = ticks; claim.Source == decide.Normal {
			missed[n]--
		}
	}
	return missed
}

// tickBefore returns the last tick before another one.
func tickBefore(w *decide.World, tick time.Time) time.Time {
	last := w.Rules.Ticks.Prev(tick.Add(-1))
	if s := w.Schedule; s != nil && !last.After(s.Since) {
		return s.LastBefore
	}
	return last
}

// ticksBetween counts the ticks after one time and up to another: 1 at least, maxCounted at
// most. Those of the schedule before count as one.
func ticksBetween(w *decide.World, after, last time.Time) int {
	ticks := w.Rules.Ticks
	if ticks == nil || after.IsZero() {
		return 1
	}
	n := 0
	if s := w.Schedule; s != nil && after.Before(s.Since) {
		if s.LastBefore.After(after) {
			n = 1
		}
		after = s.Since
	}
	for at := ticks.Next(after); !at.IsZero() && !at.After(last) && n < maxCounted; at = ticks.Next(at) {
		n++
	}
	return max(n, 1)
}
