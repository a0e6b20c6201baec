package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// A JVM member looks at the beginning of a fire whether items are being dealt. If so, it waits until they
// are not, and then runs whatever it owns, for that tick. If not, it writes running without any condition. So
// a leader of ours says first that items are being dealt, as a JVM leader would, and moves items when what
// JVM members had begun must show:
//
//	open ──► necessary ──► settled ──► items move ──► still ──► necessary goes ──► open
//	                │ for gateTime                      ▲ for gateTime
//	                └──► a tick has come: those to JVM members stay
//
// A JVM member that waits for the end of a deal then reads owners and servers from its cache, which is behind. So the
// end has to wait until these have not changed for a while: else it runs what it has just lost, and does not
// run what it has just got.
//
// From a JVM member they move at once. To a JVM member they move only if no tick has come meanwhile, because
// it would run them for that, and their owner has, too; or if it is the tick that nobody has begun,
// because their owner is gone or disabled.
const (
	// gateTime is how long JVM members have to show what they had begun, to see the end of a deal (they look
	// each 100 ms), and for their caches to show what it has changed.
	gateTime = 500 * time.Millisecond
	// gateAhead is how long before the next tick a deal begins that has to be over by then.
	gateAhead = 800 * time.Millisecond
	// dealingTime is how long a mark of a JVM that deals is respected when it does not lead any more, and how
	// long a deal may take if owners and servers go on changing.
	dealingTime = 5 * time.Second
)

// gate is what keeps back moves from and to JVM members.
type gate struct {
	owners []string      // who should own each item for now
	ask    bool          // JVM members are to begin nothing
	waits  bool          // what stands has to stand for longer
	again  time.Duration // when to look again; 0 if nothing waits
}

// gate returns who should own each item for now. owners is who should when all has settled.
func (w *World) gate(owners []string) gate {
	g := gate{owners: owners}
	if owners == nil || w.Mixed == nil || w.Rules.Broadcast {
		return g
	}
	if left := w.dealingLeft(); left > 0 {
		g.owners, g.waits, g.again = w.present(), true, left
		return g
	}
	if !w.IsMixed() || !w.Rules.Monitor {
		return g
	}
	stood, stands := w.stood()
	isSettled := stands && stood >= gateTime
	inWindow, wait := w.windowToJVM(stood, stands)
	g.owners = slices.Clone(owners)
	busy := w.busy()
	isUrgent, kept := false, 0 // the deal must not wait for a better moment; how many items do not move now
	for i, owner := range owners {
		item := w.Item(i)
		if item.Owner == nil || item.Running != nil || item.Owner.ID == owner || !w.isJVM(owner) && !w.isJVM(item.Owner.ID) {
			continue
		}
		mayMove := true
		switch isLost := !w.begins(&item); {
		case !w.isJVM(owner):
			isUrgent = true
		case w.isOutstanding(i, &item):
			g.owners[i], g.again = item.Owner.ID, gateTime // JVM members need not wait for that
			continue
		default:
			isUrgent = isUrgent || isLost
			mayMove = inWindow || isLost && w.isUnbegun(i, &item) && !busy[owner]
		}
		if !isSettled || !mayMove {
			g.owners[i] = item.Owner.ID
			kept++
		}
	}
	still := w.Moment.Sub(w.Mixed.Still)
	goes := stands && (kept == 0 || isSettled)
	switch {
	case goes && still < gateTime && stood < dealingTime:
		g.waits, g.again = true, gateTime-still
	case kept == 0:
	case isSettled:
		g.again = gateTime // what stands goes, and the rest begins anew
	case stands && (isUrgent || inWindow):
		g.waits, g.again = true, gateTime-stood
	case stands:
		g.again = gateTime
	case stood < gateTime: // who has not seen the end of the last deal would take this for it
		g.again = gateTime - stood
	case isUrgent || inWindow:
		g.ask, g.waits, g.again = true, true, gateTime
	default:
		g.again = wait
	}
	return g
}

// busy returns the instances that run something: a JVM member is not in the fire of the last tick then.
func (w *World) busy() map[string]bool {
	busy := map[string]bool{}
	for i := range w.items() {
		if running := w.Items[i].Running; running != nil {
			busy[running.ID] = true
		}
	}
	return busy
}

// begins reports whether the owner of an item is there to begin its ticks.
func (w *World) begins(item *jobtree.Item) bool {
	in, isThere := w.Instances[item.Owner.ID]
	return isThere && in.Owner != 0 && w.ServerEnabled(in.IP) && (w.isJVM(in.ID) || w.isEligible(in))
}

// isUnbegun reports whether nobody has begun an item for its last tick.
func (w *World) isUnbegun(i int, item *jobtree.Item) bool {
	return item.Fired != nil && w.LastTickOf(i).After(item.Fired.Tick) && w.lastOfJVM(item).IsZero()
}

// dealingLeft returns for how much longer nothing is dealt because a JVM member may be in the middle of it.
func (w *World) dealingLeft() time.Duration {
	if !w.Processing || w.Mixed == nil {
		return 0
	}
	return max(dealingTime-w.Moment.Sub(w.Mixed.Dealing), 0)
}

// present returns who owns each item now.
func (w *World) present() []string {
	owners := make([]string, w.Rules.Total)
	for i := range owners {
		if owner := w.Item(i).Owner; owner != nil {
			owners[i] = owner.ID
		}
	}
	return owners
}

// stood returns for how long JVM members have been told to begin nothing; if they are not, for how long they
// have not.
func (w *World) stood() (d time.Duration, stands bool) {
	m := w.Mixed
	switch {
	case m.From.IsZero():
		return time.Hour, false
	case m.To.IsZero():
		return w.Moment.Sub(m.From), true
	}
	return w.Moment.Sub(m.To), false
}

// windowToJVM reports whether an item may move to a JVM member, or JVM members may be told to begin nothing
// for that: there is time enough between two ticks. If not, it returns when to look again. If ticks come so
// fast that there never is, it does not matter.
func (w *World) windowToJVM(stood time.Duration, stands bool) (ok bool, wait time.Duration) {
	if w.Rules.Ticks == nil || w.IsPaused() {
		return true, 0
	}
	last, next := w.Rules.Ticks.Prev(w.Now), w.Rules.Ticks.Next(w.Now)
	isFast := !last.IsZero() && !next.IsZero() && next.Sub(last) < gateTime+gateAhead+gateTime/2
	switch {
	case isFast:
		return true, 0
	case stands:
		return w.Now.Sub(last)-stood >= gateTime, 0
	case w.Now.Sub(last) < gateTime:
		return false, gateTime - w.Now.Sub(last)
	case !next.IsZero() && next.Sub(w.Now) < gateAhead:
		return false, next.Sub(w.Now) + gateTime
	}
	return true, 0
}

// isOutstanding reports whether the owner of an item, which is one of ours, is still to begin its last tick.
func (w *World) isOutstanding(i int, item *jobtree.Item) bool {
	in, isThere := w.Instances[item.Owner.ID]
	if !isThere || w.isJVM(in.ID) || !w.isEligible(in) || item.Disabled {
		return false
	}
	tick := w.LastTickOf(i)
	return w.judge(i, item, tick) != notDue && w.Now.Sub(tick) < yieldTime
}

// DealWait returns when a leader has to look again at moves that are kept back; 0 if none are.
func (w *World) DealWait(owners []string) time.Duration { return w.gate(owners).again }

// hold says that items are being dealt, without a request to deal them as if nobody had had any.
func (w *World) hold() coord.Op { return coord.Put(w.Job.Necessary(), []byte(jobtree.Holding)) }

// leaveWord is what whoever gives leadership up says to who follows: the items are to be dealt. A JVM does so
// only if it is told, and what has changed before it came to lead, nobody tells it.
func (w *World) leaveWord() []coord.Op {
	if !w.IsMixed() || w.Necessary {
		return nil
	}
	return []coord.Op{w.hold()}
}
