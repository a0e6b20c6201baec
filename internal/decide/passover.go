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
	others := changes{step: "pass over", head: []coord.Op{w.ifMine(), coord.Absent(w.Job.LeaderInstance())}}
	allDisabled := !w.ServerEnabled(w.Self.IP) && len(w.Eligible()) == 0
	for i := range w.items() {
		item := &w.Items[i]
		if item.Owner == nil || !isIdle(k, i, item) || k.hasBegun(i, tick) {
			continue
		}
		switch {
		case w.owns(item) && w.passesOwn(k, i, tick, allDisabled):
			list, ops, reason := &own, w.passOver(i, tick), TooLate
			if item.Disabled {
				reason = ItemDisabled
				ops = append(ops, coord.Exists(w.Job.ItemDisabled(i)))
			} else if allDisabled {
				list, reason = &others, ServersDisabled
			}
			list.add(i, ops...).Passes = &Passed{tick, reason}
		case !w.owns(item) && allDisabled && w.speaksFor(item.Owner.ID) && w.judge(item, tick) != notDue:
			others.add(i, w.passOver(i, tick)...).Passes = &Passed{tick, ServersDisabled}
		}
	}
	return append(own.list, others.list...)
}

// passesOwn reports whether nobody is to run the last tick of an item of this instance.
func (w *World) passesOwn(k *Work, i int, tick time.Time, allDisabled bool) bool {
	item := &w.Items[i]
	verdict := w.judge(item, tick)
	if verdict == notDue {
		return false
	}
	return item.Disabled || allDisabled || w.IsActive() && verdict == passed && !k.hasWaited(i, tick)
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
