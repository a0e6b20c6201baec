package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// verdict says what is to be done about the last tick of an item that is idle. Quartz's misfire instructions
// FIRE_ONCE_NOW and DO_NOTHING are makeUp and notMadeUp here. The first row that holds counts:
//
//	the last tick …                                         verdict     step
//	was begun                                               notDue      none
//	came while the item ran (misfire mark), misfire on      makeUp      Fire; Finish if the run has just ended
//	is at most MisfireTolerance (and Slack) late            onTime      Fire
//	is of an earlier schedule that makes nothing up         notMadeUp   Skip
//	came, and fired does not tell what was begun before     notMadeUp   Skip
//	came in a pause whose ticks are to be made up           makeUp      Fire
//	was missed, misfire is off or Window is over            notMadeUp   Skip
//	was missed                                              makeUp      Fire
//
// If the item runs, MarkMisfire marks a tick that is due. See also skipReason and Work.Waiting.
type verdict int

const (
	notDue verdict = iota
	onTime
	makeUp
	notMadeUp
)

// LastTick returns the last tick at or before now; while the job is paused, the last one before the pause. If the
// effective schedule has had none yet, it is the last one of the schedule before, and zero if there was none.
func (w *World) LastTick() time.Time {
	if w.Rules.Ticks == nil {
		return time.Time{}
	}
	if t := &w.ticks; t.rules != w.Rules || t.schedule != w.Schedule || t.now != w.Now {
		*t = tickCache{rules: w.Rules, schedule: w.Schedule, now: w.Now, last: w.lastTick(w.Now), base: t.base}
		if w.Rules.Jitter > 0 && !t.last.IsZero() {
			t.interval = w.Rules.Jitter
			if next := w.Rules.Ticks.Next(t.last); !next.IsZero() {
				t.interval = next.Sub(t.last)
			}
			t.before = w.lastTick(t.last.Add(-1))
		}
	}
	return w.ticks.last
}

func (w *World) lastTick(now time.Time) time.Time {
	if !w.IsScheduleEffective() {
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
		return notDue // the item is new: the leader has not assigned it yet
	}
	return w.judgeTick(item.Fired.Tick, tick, w.startTime(i, tick), item.Misfire)
}

// judgeTick compares the last tick with begun, the tick that was begun last. start is when the last tick
// was to begin. If several ticks were missed, the last one stands for all. isMarked says that the tick
// came while the item ran: then it is missed, however recent it is.
func (w *World) judgeTick(begun, tick, start time.Time, isMarked bool) verdict {
	if tick.IsZero() || !tick.After(begun) {
		return notDue
	}
	lateness := w.Now.Sub(start) - w.delayByJVMReshard(start)
	isDropped := w.isFromDroppedSchedule(tick)
	switch {
	case isMarked && w.Rules.Misfire && !isDropped:
		return makeUp
	case lateness <= w.Rules.Tolerance+w.Slack:
		return onTime
	case isDropped:
		return notMadeUp
	case begun.IsZero():
		return notMadeUp // fired does not say what was begun
	case w.isFromPauseToMakeUp(tick):
		return makeUp
	case !w.Rules.Misfire, w.Rules.Window > 0 && lateness > w.Rules.Window:
		return notMadeUp // misfire is off, or it is too long ago
	}
	return makeUp
}
