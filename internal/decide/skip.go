package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Skipped is a tick that was skipped, and why.
type Skipped struct {
	Tick   time.Time
	Reason SkipReason
}

// SkipReason is why nobody runs a tick.
type SkipReason int

// The reasons.
const (
	ItemDisabled    SkipReason = iota + 1 // the item is disabled
	ServersDisabled                       // all servers of instances that may have items are disabled
	TooLate                               // the tick was missed and is not made up
	WhileRunning                          // the tick came while the item ran, and is not made up
	BegunAsOther                          // this process has begun the tick of a broadcast job with another item, or as another instance
	ScheduleChanged                       // the tick was missed by an earlier schedule, and is not made up: see jobtree.Schedule
)

// Skip moves fired on over ticks that nobody is to run: ticks of disabled items, ticks while all servers are
// disabled, and missed ticks that are not made up. So if fired of an idle item stays behind, something is wrong.
func (w *World) Skip(k *Work) []Change {
	if w.LastTick().IsZero() || !w.Rules.Monitor || !w.IsRegistered() || w.Leaving {
		return nil
	}
	own := changes{w: w, step: "skip", head: (*World).sessionHead}
	// Whether a missed tick is made up is for the configuration to say. A view that lags behind may not
	// show that misfire was switched on meanwhile.
	missed := changes{w: w, step: "skip", head: (*World).sessionConfigHead}
	all := changes{w: w, step: "skip", head: (*World).nobodyMayHead}
	allDisabled := !w.ServerEnabled(w.Self.IP) && len(w.Eligible()) == 0
	for i := range w.itemsToLookAt(w.itemCount()) {
		tick := w.LastTickOf(i)
		switch reason := w.skipReason(k, i, tick, allDisabled); reason {
		case 0:
		case ServersDisabled:
			all.add(i, w.skipOps(i, tick)...).Skips = &Skipped{tick, reason}
		case ItemDisabled:
			own.add(i, append(w.skipOps(i, tick), coord.Exists(w.Job.ItemDisabled(i)))...).Skips = &Skipped{tick, reason}
		case TooLate, ScheduleChanged:
			missed.add(i, w.skipOps(i, tick)...).Skips = &Skipped{tick, reason}
		default:
			own.add(i, w.skipOps(i, tick)...).Skips = &Skipped{tick, reason}
		}
	}
	return slices.Concat(own.list, missed.list, all.list)
}

// skipReason returns why nobody is to run the last tick of an item; 0 if somebody is, or if another
// instance has to skip it.
func (w *World) skipReason(k *Work, i int, tick time.Time, allDisabled bool) SkipReason {
	item := &w.Items[i]
	if item.Owner == nil && w.Rules.Broadcast || !isIdle(k, i, item) || k.hasBegun(i, tick) {
		return 0
	}
	switch verdict := w.judge(i, item, tick); {
	case verdict == notDue:
	case !w.owns(item):
		if allDisabled && w.isFirstToSkipFor(item.Owner) {
			return ServersDisabled
		}
	case item.Disabled:
		return ItemDisabled
	case allDisabled:
		return ServersDisabled
	case w.hasBegunAsOther(k, i, tick):
		return BegunAsOther
	case w.IsPaused() && w.Schedule.MakeUp: // it came before the pause, and is made up with what comes in it
	case w.IsActive() && verdict == notMadeUp && !k.isWaitingOnTime(i, tick):
		if w.isFromDroppedSchedule(tick) {
			return ScheduleChanged
		}
		return TooLate
	}
	return 0
}

// isFirstToSkipFor reports whether this instance skips the ticks of an item without an owner, as after a migration, or whose
// owner has ended and has a disabled server, while all servers are disabled: of the instances that do, it is the first in
// the job's order.
func (w *World) isFirstToSkipFor(owner *jobtree.Mark) bool {
	if owner != nil && (!w.IsDead(owner.ID) || w.ServerEnabled(jobtree.InstanceIP(owner.ID))) {
		return false
	}
	for id, in := range w.Instances {
		if in.Owner != 0 && !w.ServerEnabled(in.IP) && w.Session(id).Owner != 0 && w.compare(id, w.Self.ID) < 0 {
			return false
		}
	}
	return true
}

// skipOps returns the operations that move fired on without a run.
func (w *World) skipOps(i int, tick time.Time) []coord.Op {
	item := &w.Items[i]
	asOwned := coord.Absent(w.Job.ItemInstance(i))
	if item.Owner != nil {
		asOwned = coord.AtVersion(w.Job.ItemInstance(i), item.Owner.Version)
	}
	ops := []coord.Op{asOwned, coord.SetAt(w.Job.Fired(i), jobtree.EncodeFired(tick), item.Fired.Version)}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(w.Job.Misfire(i)))
	}
	return append(ops, w.recordMemberEnd(i, tick, jobtree.OutcomeSkipped)...)
}
