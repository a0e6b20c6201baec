package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// yieldFor is how long an item that has run here is left idle, so that the leader can give it to the
	// instance that is to own it. If it is still here then, it goes on here.
	yieldFor = 3 * time.Second
	// yieldAgainAfter is how long it goes on here before it is left idle once more.
	yieldAgainAfter = 30 * time.Second
)

// Yield is an item that is left idle here, because another instance is to own it.
type Yield struct {
	since clocks.Moment
	owner int64 // the version of the owner's node
}

// MayYield reports whether an item ran here until just now, so that the leader had no time to move it: an item
// whose runs take as long as the time between its ticks is always due again when one has ended.
// A JVM leader deals when nothing runs; see HeldForJVM.
func (w *World) MayYield(k *Work, i int) bool {
	freed, hasRun := k.Freed[i]
	return hasRun && w.Moment.Sub(freed) < yieldFor && !w.Rules.Broadcast && !w.JVMLeads()
}

// Yield returns for how long an item that is due is still left idle, because by the strategy's answer another
// instance is to own it; 0 if it is to begin here. Without it the owner's next claim would always be
// there before the leader.
func (w *World) Yield(k *Work, i int, owners []string) time.Duration {
	item := w.Item(i)
	if !w.owns(&item) || !w.MayYield(k, i) || !w.isToMove(i, &item, owners) || w.yieldsInVain(k, i, &item) {
		return 0
	}
	y, ok := k.Yields[i]
	if !ok || y.owner != item.Owner.Version || w.Moment.Sub(y.since) >= yieldFor {
		y = Yield{w.Moment, item.Owner.Version}
		k.Yields[i] = y
	}
	return yieldFor - w.Moment.Sub(y.since)
}

// yieldsInVain reports whether an item was left idle, and nobody has given it to another instance.
func (w *World) yieldsInVain(k *Work, i int, item *jobtree.Item) bool {
	y, ok := k.Yields[i]
	if !ok || !w.owns(item) || y.owner != item.Owner.Version {
		return false
	}
	age := w.Moment.Sub(y.since)
	return age >= yieldFor && age < yieldAgainAfter
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
	return !w.Rules.StaticSharding || w.isAbandoned(w.Self.ID) || w.isPinnedAway(i, item, owners[i])
}

// CanWait reports whether an item that is due may be left idle without losing its tick.
func (w *World) CanWait(d Due) bool {
	if d.Tick.After(w.Now) {
		return true
	}
	later := *w
	later.Now = w.Now.Add(yieldFor)
	v := later.judge(d.Item, &w.Items[d.Item], d.Tick)
	return v == onTime || v == missed
}
