package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// verdict says what is to be done about the last tick of an item.
type verdict int

const (
	notDue  verdict = iota // no tick has come that the item has not begun
	onTime                 // the tick came just now: run it
	missed                 // the tick was missed: make it up
	expired                // the tick was missed, and is not made up
)

// LastTick returns the last tick at or before now. If none has come since the schedule was put in force, it is
// the last one of the schedule before, and zero if there was none. While the job is paused, it is the last one
// before that.
func (w *World) LastTick() time.Time {
	if w.Rules.Ticks == nil {
		return time.Time{}
	}
	if t := &w.ticked; t.rules != w.Rules || t.schedule != w.Schedule || t.now != w.Now {
		*t = ticked{rules: w.Rules, schedule: w.Schedule, now: w.Now, last: w.lastTick(w.Now), base: t.base}
		if w.Rules.Jitter > 0 && !t.last.IsZero() {
			t.span = w.Rules.Jitter
			if next := w.Rules.Ticks.Next(t.last); !next.IsZero() {
				t.span = next.Sub(t.last)
			}
			t.before = w.lastTick(t.last.Add(-1))
		}
	}
	return w.ticked.last
}

func (w *World) lastTick(now time.Time) time.Time {
	if !w.IsInForce() {
		return time.Time{}
	}
	if w.Schedule.IsPaused() && w.Schedule.Paused.Before(now) {
		now = w.Schedule.Paused
	}
	if tick := w.Ticks().Prev(now); tick.After(w.Schedule.Since) {
		return tick
	}
	if last := w.Schedule.LastBefore; !last.After(now) {
		return last
	}
	return time.Time{}
}

// judge compares the last tick of an item with the tick that it has begun last.
func (w *World) judge(i int, item *jobtree.Item, tick time.Time) verdict {
	if item.Fired == nil {
		return notDue // the item is new: the leader has not dealt it yet
	}
	return w.judgeTick(item.Fired.Tick, tick, w.startOf(i, tick), item.Misfire)
}

// judgeTick compares the last tick with the one that was begun last. start is when the last one
// was to begin. If several ticks were missed, the last one stands for all. flagged says that
// the tick came while the item ran: then it is missed, however recent it is.
func (w *World) judgeTick(begun, tick, start time.Time, flagged bool) verdict {
	if tick.IsZero() || !tick.After(begun) {
		return notDue
	}
	lateness := w.Now.Sub(start) - w.heldAfter(start)
	isForgone := w.isForgone(tick)
	switch {
	case flagged && w.Rules.Misfire && !isForgone:
		return missed
	case lateness <= w.Rules.Tolerance+w.Slack:
		return onTime
	case isForgone:
		return expired
	case begun.IsZero():
		return expired // fired does not say what was begun
	case w.isOwed(tick):
		return missed
	case !w.Rules.Misfire, w.Rules.Window > 0 && lateness > w.Rules.Window:
		return expired // misfire is off, or it is too long ago
	}
	return missed
}
