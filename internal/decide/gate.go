package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// A JVM member looks at the beginning of a fire whether leader/sharding/necessary or processing stands (here: the
// mark). If so, it waits until that has gone, and then runs whatever it owns, for that tick. If not, it writes
// running without any condition. So a leader of ours sets the mark first, as a JVM leader would, and moves items when
// what JVM members had begun must show:
//
//	open ──► marked ──► settled ──► items move ──► owners unchanged ──► mark goes ──► open
//	             │ for gateTime                          ▲ for gateTime
//	             └──► a tick has come: those to JVM members stay
//
// A JVM member that has waited for the end of the mark reads owners and servers from its cache, which is behind. So
// the mark stays until these have not changed for a while: otherwise it runs what it has just lost, and does not
// run what it has just got.
//
// From a JVM member items move at once. To a JVM member they move only if no tick has come meanwhile, because
// it would run them for that tick, which their owner has run, too; or if nobody has begun that tick,
// because their owner is gone or disabled.
const (
	// gateTime is how long JVM members have to show what they had begun, to see the end of the mark (they look
	// each 100 ms), and for their caches to show what has changed.
	gateTime = 500 * time.Millisecond
	// gateAhead is how long before the next tick the mark is set that has to be gone by then.
	gateAhead = 800 * time.Millisecond
	// maxReshardTime is how long the mark processing of a JVM is respected when it does not lead any more, and how
	// long the mark of ours may stand if owners and servers go on changing.
	maxReshardTime = 5 * time.Second
)

// gate says which items move now, from or to JVM members.
type gate struct {
	owners   []string      // who should own each item for now
	setMark  bool          // the mark is to be set
	keepMark bool          // the mark has to stand for longer
	wait     time.Duration // when to look again; 0 if nothing waits
}

// gate returns who should own each item for now. owners is who should when all items have moved.
func (w *World) gate(owners []string) gate {
	g := gate{owners: owners}
	if owners == nil || w.Mixed == nil || w.Rules.Broadcast {
		return g
	}
	if left := w.jvmReshardLeft(); left > 0 {
		g.owners, g.keepMark, g.wait = w.currentOwners(), true, left
		return g
	}
	if !w.IsMixed() || !w.Rules.Monitor {
		return g
	}
	age, stands := w.reshardMark()
	isSettled := stands && age >= gateTime
	inGap, wait := w.isBetweenTicks(age, stands)
	g.owners = slices.Clone(owners)
	busy := w.busyInstances()
	// Which items move now. isUrgent: the mark is set at any time; kept: how many items do not move yet.
	isUrgent, kept := false, 0
	for i, owner := range owners {
		item := w.Item(i)
		if item.Owner == nil || item.Running != nil || item.Owner.ID == owner || !w.isJVM(owner) && !w.isJVM(item.Owner.ID) {
			continue
		}
		mayMove := true
		switch isUnserved := !w.ownerBegins(&item); {
		case !w.isJVM(owner):
			isUrgent = true
		case w.isStillToBegin(i, &item):
			g.owners[i], g.wait = item.Owner.ID, gateTime // JVM members need not wait for that
			continue
		default:
			isUrgent = isUrgent || isUnserved
			mayMove = inGap || isUnserved && w.hasNobodyBegun(i, &item) && !busy[owner]
		}
		if !isSettled || !mayMove {
			g.owners[i] = item.Owner.ID
			kept++
		}
	}
	// What becomes of the mark.
	unchanged := w.Moment.Sub(w.Mixed.OwnersSince)
	mayGo := stands && (kept == 0 || isSettled)
	switch {
	case mayGo && unchanged < gateTime && age < maxReshardTime:
		g.keepMark, g.wait = true, gateTime-unchanged
	case kept == 0:
	case isSettled:
		g.wait = gateTime // the mark goes, and is set anew for the rest
	case stands && (isUrgent || inGap):
		g.keepMark, g.wait = true, gateTime-age
	case stands:
		g.wait = gateTime
	case age < gateTime: // who has not seen that the last mark is gone would take this one for it
		g.wait = gateTime - age
	case isUrgent || inGap:
		g.setMark, g.keepMark, g.wait = true, true, gateTime
	default:
		g.wait = wait
	}
	return g
}

// busyInstances returns the instances that run something: a JVM member among them has not begun the last tick.
func (w *World) busyInstances() map[string]bool {
	busy := map[string]bool{}
	for i := range w.itemCount() {
		if running := w.Items[i].Running; running != nil {
			busy[running.ID] = true
		}
	}
	return busy
}

// ownerBegins reports whether the owner of an item is there to begin its ticks.
func (w *World) ownerBegins(item *jobtree.Item) bool {
	in, isThere := w.Instances[item.Owner.ID]
	return isThere && in.Owner != 0 && w.ServerEnabled(in.IP) && (w.isJVM(in.ID) || w.isEligible(in))
}

// hasNobodyBegun reports whether nobody has begun an item for its last tick.
func (w *World) hasNobodyBegun(i int, item *jobtree.Item) bool {
	return item.Fired != nil && w.LastTickOf(i).After(item.Fired.Tick) && w.lastTickByJVM(item).IsZero()
}

// jvmReshardLeft returns for how much longer a leader of ours assigns nothing, because a JVM member may be
// assigning.
func (w *World) jvmReshardLeft() time.Duration {
	if !w.Processing || w.Mixed == nil {
		return 0
	}
	return max(maxReshardTime-w.Moment.Sub(w.Mixed.ProcessingSince), 0)
}

// currentOwners returns who owns each item now.
func (w *World) currentOwners() []string {
	owners := make([]string, w.Rules.Total)
	for i := range owners {
		if owner := w.Item(i).Owner; owner != nil {
			owners[i] = owner.ID
		}
	}
	return owners
}

// reshardMark returns whether the mark stands, and for how long it has, or has not.
func (w *World) reshardMark() (age time.Duration, stands bool) {
	m := w.Mixed
	switch {
	case m.MarkedSince.IsZero():
		return time.Hour, false
	case m.UnmarkedSince.IsZero():
		return w.Moment.Sub(m.MarkedSince), true
	}
	return w.Moment.Sub(m.UnmarkedSince), false
}

// isBetweenTicks reports whether there is time enough until the next tick to move items to JVM members, or
// to set the mark for that. If not, wait is when to look again. If ticks come so fast that there never is,
// it does not matter. age and stands are of reshardMark.
func (w *World) isBetweenTicks(age time.Duration, stands bool) (ok bool, wait time.Duration) {
	if w.Rules.Ticks == nil || w.IsPaused() {
		return true, 0
	}
	last, next := w.Rules.Ticks.Prev(w.Now), w.Rules.Ticks.Next(w.Now)
	isFast := !last.IsZero() && !next.IsZero() && next.Sub(last) < gateTime+gateAhead+gateTime/2
	switch {
	case isFast:
		return true, 0
	case stands:
		return w.Now.Sub(last)-age >= gateTime, 0
	case w.Now.Sub(last) < gateTime:
		return false, gateTime - w.Now.Sub(last)
	case !next.IsZero() && next.Sub(w.Now) < gateAhead:
		return false, next.Sub(w.Now) + gateTime
	}
	return true, 0
}

// isStillToBegin reports whether the owner of an item, one of ours, is still to begin its last tick.
func (w *World) isStillToBegin(i int, item *jobtree.Item) bool {
	in, isThere := w.Instances[item.Owner.ID]
	if !isThere || w.isJVM(in.ID) || !w.isEligible(in) || item.Disabled {
		return false
	}
	tick := w.LastTickOf(i)
	return w.judge(i, item, tick) != notDue && w.Now.Sub(tick) < maxReshardWait
}

// AssignWait returns when a leader has to look again at moves that wait; 0 if none do.
func (w *World) AssignWait(owners []string) time.Duration { return w.gate(owners).wait }

// markResharding sets the mark leader/sharding/necessary for JVM members, with a value that does not ask
// for an assignment from scratch.
func (w *World) markResharding() coord.Op {
	return coord.Put(w.Job.Necessary(), []byte(jobtree.Holding))
}

// reshardOnHandover returns the operations by which whoever gives leadership up beside JVM members has its
// successor assign the items: a JVM does so only if it finds that mark, and has not seen what changed before.
func (w *World) reshardOnHandover() []coord.Op {
	if !w.IsMixed() || w.Necessary {
		return nil
	}
	return []coord.Op{w.markResharding()}
}
