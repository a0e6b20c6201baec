package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// jvmAhead is by how much the clock of a JVM member may be ahead, so that a run is still taken for one of
// the tick that comes next.
const jvmAhead = 200 * time.Millisecond

// jvmStart is how long a JVM member takes at least until it looks whether it may begin a tick: three requests to
// the store come before that. If it is told not to within that time, and no run shows, it has not begun.
const jvmStart = 30 * time.Millisecond

// jvmRemoves is how long it may take to remove the records of a fire, one after the other.
const jvmRemoves = 5 * time.Second

// jvmSlow is how long it may take, on a machine that is busy.
const jvmSlow = 250 * time.Millisecond

// RecordJVMRuns writes, as the coordinator, the fired nodes of items of JVM members, which do not: the tick of a
// run that is seen; the last tick before the owner could begin nothing any more; and now, for an item that has
// none. So whoever has the item next knows what is due, and does not run again what the JVM ran. Nobody can know
// of a JVM member that has ended whether it ran a tick that came before: it is taken as run.
//
// It also removes, as any member that has seen enough, the record of a run that is over
// ([World.IsLeftByJVM]). As long as it stands nobody runs the item, and a JVM leader assigns nothing.
func (w *World) RecordJVMRuns() []Change {
	if w.Mixed == nil || !w.Rules.Monitor || w.Config == nil {
		return nil
	}
	c := changes{w: w, step: "record JVM runs", urgency: urgency.Soonest, head: (*World).sessionConfigHead}
	for i := range w.itemCount() {
		if item := &w.Items[i]; item.Running != nil && w.IsLeftByJVM(i, item) {
			c.add(i, coord.AtVersion(w.Job.Running(i), item.Running.Version), coord.DeleteTree(w.Job.Running(i)))
		}
	}
	if w.Rules.Broadcast || w.Rules.IsOneOff() || !w.IsCoordinator() || !w.IsScheduleEffective() {
		return c.list
	}
	for i := range w.Rules.Total {
		if i >= len(w.Items) || w.Items[i].Fired == nil {
			if w.IsMixed() && w.mayCreateFired() {
				c.add(i, coord.Create(w.Job.Fired(i), jobtree.EncodeFired(w.correctedTime())))
			}
			continue
		}
		item := &w.Items[i]
		switch {
		case item.Running != nil:
			if w.isUnrecordedJVMRun(item) && !w.IsLeftByJVM(i, item) {
				c.add(i, coord.AtVersion(w.Job.Running(i), item.Running.Version),
					coord.SetAt(w.Job.Fired(i), jobtree.EncodeFired(w.tickOfJVMRun(item)), item.Fired.Version))
			}
		case item.Owner == nil:
		default:
			if last := w.lastTickByJVM(item); !last.IsZero() {
				c.add(i, coord.AtVersion(w.Job.ItemInstance(i), item.Owner.Version), coord.Absent(w.Job.Running(i)),
					w.skipJVMTicks(i, item, last))
			}
		}
	}
	return c.list
}

// JVMRecordWait returns after how long to look again at records that JVM members may have left
// (IsLeftByJVM); 0 if there are none.
func (w *World) JVMRecordWait() (wait time.Duration) {
	if w.Mixed == nil {
		return 0
	}
	for _, r := range w.Mixed.Runs {
		if left := jvmRemoves - w.Moment.Sub(r.OverSince); !r.OverSince.IsZero() && left > 0 && (wait == 0 || left < wait) {
			wait = left
		}
	}
	return wait
}

// IsLeftByJVM reports whether the record of a run was left by a JVM member that does not run it any more:
// ElasticJob 3.0.6-SNAPSHOT leaves it if the item has failed, and any other if the answer to the removal
// was lost. A JVM member removes the records of a fire when all of its items have ended: so if others have
// been gone for jvmRemoves, this one was left. Otherwise it may be a run that takes long.
func (w *World) IsLeftByJVM(i int, item *jobtree.Item) bool {
	if w.Mixed == nil {
		return false
	}
	r, is := w.Mixed.Runs[i]
	return is && r.Modified == item.Running.Modified && !r.OverSince.IsZero() && w.Moment.Sub(r.OverSince) >= jvmRemoves
}

// mayCreateFired reports whether items that have no fired node get one before they have an owner. A JVM
// leader assigns in its fire: what is written after that comes too late for the tick. With static sharding
// JVM members take items that are in the tree for items that are assigned.
func (w *World) mayCreateFired() bool { return !w.Rules.StaticSharding || len(w.Items) > 0 }

// isUnrecordedJVMRun reports whether an item runs in a JVM member, and fired does not tell of that run.
// The member need not own it: a JVM leader assigns in its fire and then reads its cache, which is behind,
// so it runs what it has just given away. Then fired counts if it tells of the tick: one of ours may have
// begun the item, and the JVM written over its record. That claim has to stand.
func (w *World) isUnrecordedJVMRun(item *jobtree.Item) bool {
	if !w.isJVM(item.Running.ID) || item.Failover != nil || item.Running.Modified <= item.Fired.Modified {
		return false
	}
	return item.Owner.Is(item.Running.ID) || w.tickOfJVMRun(item).After(item.Fired.Tick)
}

// tickOfJVMRun returns the tick for which a JVM member has just begun an item: the last one, but none
// before that of fired.
func (w *World) tickOfJVMRun(item *jobtree.Item) time.Time {
	tick := w.lastTick(w.Now.Add(jvmAhead))
	if tick.Before(item.Fired.Tick) {
		return item.Fired.Tick
	}
	return tick
}

// skipJVMTicks returns the operation that moves fired on over ticks that a JVM member may have run. If the
// item awaits failover, fired goes on telling for which tick.
func (w *World) skipJVMTicks(i int, item *jobtree.Item, last time.Time) coord.Op {
	value := jobtree.EncodeFired(last)
	if w.awaitsFailover(i) {
		value = jobtree.EncodeClaim(last, item.Fired.Run)
	}
	return coord.SetAt(w.Job.Fired(i), value, item.Fired.Version)
}

// lastTickByJVM returns the last tick that the owner of an idle item, a JVM member, may have run, if fired
// does not tell of it; zero if it does. While nothing keeps the JVM member from beginning (OutSince, the
// mark), it may be about to run the item.
func (w *World) lastTickByJVM(item *jobtree.Item) time.Time {
	m := w.Mixed
	if m == nil || !jobtree.IsJVMID(item.Owner.ID) && !w.isJVM(item.Owner.ID) {
		return time.Time{}
	}
	if item.Failover != nil && !item.Failover.Is(item.Owner.ID) {
		return time.Time{} // it leaves alone what somebody else has taken over
	}
	out := m.OutSince[item.Owner.ID]
	if m.UnmarkedSince.IsZero() {
		out = clocks.Earlier(out, m.MarkedSince)
	}
	if out.IsZero() || w.Rules.Ticks == nil || item.Fired == nil {
		return time.Time{}
	}
	until := w.wallAt(out)
	tick := w.lastTick(until)
	if !tick.After(item.Fired.Tick) {
		return time.Time{}
	}
	if isNew := w.Leader == nil || w.Leader.Created > item.Fired.Modified; isNew {
		return tick // there may have been no coordinator to see its run
	}
	before := w.lastTick(tick.Add(-1))
	had := until.Sub(tick) // to begin the tick; if its run of the tick before was seen, so would this one be
	if had >= jvmSlow || had >= jvmStart && !before.Equal(item.Fired.Tick) {
		return tick
	}
	if before.After(item.Fired.Tick) {
		return before
	}
	return time.Time{}
}
