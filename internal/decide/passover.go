package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Passed is a tick that is passed over.
type Passed struct {
	Tick   time.Time
	Reason PassReason
}

// PassReason is why nobody runs a tick.
type PassReason int

// The reasons.
const (
	ItemDisabled    PassReason = iota + 1
	ServersDisabled            // all of them
	TooLate                    // it was missed and is not made up for
	WhileRunning               // it came while the item ran, and is not made up for
)

// PassOver moves on over ticks that nobody is to run: of items that are disabled, of
// servers that are while no other takes their items over, and those that were missed and
// are not made up for. So a record that is behind always means that something is wrong.
func (w *World) PassOver(k *Work) []Change {
	tick := w.LastTick()
	if tick.IsZero() || !w.Rules.Monitor || !w.IsRegistered() || w.Leaving {
		return nil
	}
	own := changes{step: "pass over", head: []coord.Op{w.ifMine()}}
	// An instance whose server is not disabled would be the leader at once.
	all := changes{step: "pass over", head: []coord.Op{w.ifMine(), coord.Absent(w.Job.LeaderInstance())}}
	allDisabled := !w.ServerEnabled(w.Self.IP) && len(w.Eligible()) == 0
	for i := range w.items() {
		switch reason := w.passReason(k, i, tick, allDisabled); reason {
		case 0:
		case ServersDisabled:
			all.add(i, w.passOver(i, tick)...).Passes = &Passed{tick, reason}
		case ItemDisabled:
			own.add(i, append(w.passOver(i, tick), coord.Exists(w.Job.ItemDisabled(i)))...).Passes = &Passed{tick, reason}
		default:
			own.add(i, w.passOver(i, tick)...).Passes = &Passed{tick, reason}
		}
	}
	return append(own.list, all.list...)
}

// passReason says why nobody is to run the last tick of an item, as far as it is for this
// instance to say; 0 if somebody is.
func (w *World) passReason(k *Work, i int, tick time.Time, allDisabled bool) PassReason {
	item := &w.Items[i]
	if item.Owner == nil || !isIdle(k, i, item) || k.hasBegun(i, tick) {
		return 0
	}
	switch verdict := w.judge(item, tick); {
	case verdict == notDue:
	case !w.owns(item):
		if allDisabled && w.speaksFor(item.Owner.ID) {
			return ServersDisabled
		}
	case item.Disabled:
		return ItemDisabled
	case allDisabled:
		return ServersDisabled
	case w.IsActive() && verdict == expired && !k.hasWaited(i, tick):
		return TooLate
	}
	return 0
}

// speaksFor reports whether it is for this instance to pass over ticks of an instance that
// is no more: its server was disabled, and this is the first of those who are there.
func (w *World) speaksFor(owner string) bool {
	if !w.IsDead(owner) || w.ServerEnabled(jobtree.InstanceIP(owner)) {
		return false
	}
	for id, in := range w.Instances {
		if in.Owner != 0 && id != w.Self.ID && w.compare(id, w.Self.ID) < 0 {
			return false
		}
	}
	return true
}

// passOver moves fired on without a run.
func (w *World) passOver(i int, tick time.Time) []coord.Op {
	item := &w.Items[i]
	ops := []coord.Op{
		coord.AtVersion(w.Job.ItemInstance(i), item.Owner.Version),
		coord.SetAt(w.Job.Fired(i), jobtree.EncodeFired(tick), item.Fired.Version),
	}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(w.Job.Misfire(i)))
	}
	return ops
}
