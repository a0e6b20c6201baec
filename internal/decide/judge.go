package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// verdict says what is to be done about an item's last tick.
type verdict int

const (
	notDue  verdict = iota
	onTime          // it came just now
	missed          // it is made up for
	expired         // it was missed, and is not made up for
)

// LastTick is the last tick at or before now, or zero if none has come since the schedule
// is in force.
func (w *World) LastTick() time.Time {
	if w.Rules.Ticks == nil || !w.IsInForce() {
		return time.Time{}
	}
	tick := w.Rules.Ticks.Prev(w.Now)
	if !tick.After(w.Schedule.Since) {
		return time.Time{}
	}
	return tick
}

// judge compares the last tick with what an item has begun.
func (w *World) judge(item *jobtree.Item, tick time.Time) verdict {
	if item.Fired == nil {
		return notDue // nobody has dealt it yet
	}
	return w.judgeTick(item.Fired.Tick, tick, item.Misfire)
}

// judgeTick compares the last tick with the one that was begun last. However many ticks
// were missed, the last one stands for all of them. flagged is set where it came while the
// item ran, so that it is missed however recent it is.
func (w *World) judgeTick(begun, tick time.Time, flagged bool) verdict {
	if tick.IsZero() || !tick.After(begun) {
		return notDue
	}
	lateness := w.Now.Sub(tick)
	switch {
	case flagged && w.Rules.Misfire:
		return missed
	case lateness <= w.Rules.Tolerance+w.Slack:
		return onTime
	case !w.Rules.Misfire, w.Rules.Window > 0 && lateness > w.Rules.Window, begun.IsZero():
		return expired // off, too long ago, or nobody knows whether it was missed
	}
	return missed
}
