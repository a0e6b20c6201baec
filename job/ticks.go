package job

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// verdict says what is to be done about an item's last tick.
type verdict int

const (
	notDue verdict = iota
	onTime         // it came just now
	late           // it was missed and is made up
	passed         // it was missed and is let go
)

// lastTick is the last tick at or before now, or zero if none has come since the
// schedule is in force.
func (w *world) lastTick() time.Time {
	if w.settings.schedule == nil || !w.inForce() {
		return time.Time{}
	}
	tick := w.settings.schedule.Prev(w.now)
	if !tick.After(w.Schedule.Since) {
		return time.Time{}
	}
	return tick
}

// hasBegun reports whether this process has begun a tick of an item, or a later one,
// whatever the tree says: a leader takes back what a clock that is ahead has begun, and
// that clock would begin it again at once.
func (w *world) hasBegun(item int, tick time.Time) bool {
	return !tick.After(w.begun[item])
}

// judge compares the last tick with what the item has begun. However many ticks were
// missed, the last one stands for all of them.
func (w *world) judge(item jobtree.Item, tick time.Time) verdict {
	if tick.IsZero() || item.Fired == nil || !tick.After(item.Fired.Tick) {
		return notDue
	}
	lateness := w.now.Sub(tick)
	switch {
	case item.Misfire && w.settings.misfire:
		return late
	case lateness <= w.settings.tolerance+w.slack:
		return onTime
	case !w.settings.misfire, w.settings.window > 0 && lateness > w.settings.window, item.Fired.Tick.IsZero():
		return passed // off, too long ago, or nobody knows whether it was missed
	}
	return late
}
