package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// holdTime is how long an item is held. If it is still here then, it begins here.
	holdTime = 3 * time.Second
	// holdAgainAfter is how long after the last hold it is held once more.
	holdAgainAfter = 30 * time.Second
)

// Hold is an item that is due and left idle here, so that the leader can give it to the instance that is
// to own it.
type Hold struct {
	since clocks.Moment
	owner int64 // the version of the owner's node
}

// MayHoldForRebalance reports whether an item ran here until just now, so that the leader had no time to
// move it: an item whose runs take as long as the time between its ticks is due again whenever one has
// ended. A JVM leader assigns when nothing runs: see JVMReshardWait.
func (w *World) MayHoldForRebalance(k *Work, i int) bool {
	freed, hasRun := k.LastEnded[i]
	return hasRun && len(w.Instances) > 1 && w.Moment.Sub(freed) < holdTime && !w.Rules.Broadcast && !w.JVMLeads()
}

// HoldForRebalance returns for how much longer an item that is due is held; 0 if it is to begin here. It
// is held if another instance is to own it by the strategy's answer. Otherwise the owner's next claim
// would always come before the leader's move.
func (w *World) HoldForRebalance(k *Work, i int, owners []string) time.Duration {
	item := w.Item(i)
	if !w.owns(&item) || !w.MayHoldForRebalance(k, i) || !w.isToMove(i, &item, owners) || w.wasHeldInVain(k, i, &item) {
		return 0
	}
	y, ok := k.Holds[i]
	if !ok || y.owner != item.Owner.Version || w.Moment.Sub(y.since) >= holdTime {
		y = Hold{w.Moment, item.Owner.Version}
		k.Holds[i] = y
	}
	return holdTime - w.Moment.Sub(y.since)
}

// wasHeldInVain reports whether an item was held lately, and nobody has given it to another instance.
func (w *World) wasHeldInVain(k *Work, i int, item *jobtree.Item) bool {
	y, ok := k.Holds[i]
	if !ok || !w.owns(item) || y.owner != item.Owner.Version {
		return false
	}
	age := w.Moment.Sub(y.since)
	return age >= holdTime && age < holdAgainAfter
}

// isToMove reports whether an item is to have another owner than this instance, by the strategy's answer.
func (w *World) isToMove(i int, item *jobtree.Item, owners []string) bool {
	switch {
	case i >= len(owners):
		return false
	case !w.owns(item):
		return true
	case owners[i] == w.Self.ID:
		return false
	}
	return !w.Rules.StaticSharding || w.isStaticOver(w.Self.ID) || w.isPinnedAway(i, item, owners[i])
}

// CanHold reports whether an item that is due may be held without losing its tick.
func (w *World) CanHold(d Due) bool {
	if d.Tick.After(w.Now) {
		return true
	}
	later := *w
	later.Now = w.Now.Add(holdTime)
	v := later.judge(d.Item, &w.Items[d.Item], d.Tick)
	return v == onTime || v == makeUp
}
