package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Due is an item of this instance whose last tick is to begin.
type Due struct {
	Item   int
	Tick   time.Time
	Source Source
}

// Due lists what is to begin here, those first that have waited longest.
func (w *World) Due(k *Work) []Due {
	tick := w.LastTick()
	if tick.IsZero() || !w.Rules.Monitor || !w.IsActive() {
		return nil
	}
	var list []Due
	for i := range w.items() {
		item := &w.Items[i]
		if !w.owns(item) || item.Disabled || k.Runs[i] != nil || item.Running != nil || k.hasBegun(i, tick) {
			continue
		}
		switch w.judge(item, tick) {
		case onTime:
			list = append(list, Due{i, tick, Normal})
		case missed:
			list = append(list, Due{i, tick, Misfire})
		case expired:
			if k.hasWaited(i, tick) {
				list = append(list, Due{i, tick, Normal})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Due) int {
		return w.Items[a.Item].Fired.Tick.Compare(w.Items[b.Item].Fired.Tick)
	})
	return list
}

// Fire begins what is due, as far as there are threads for it: what is claimed cannot be
// given to anybody else. A commit that begins items says that they are still assigned here,
// that they do not run, and that this tick of theirs was not begun, so a tick starts at
// most once whoever owns the item. Items that still run are left alone; the others do not
// wait for them. (ElasticJob skips the tick of all items then, B-20, B-40.)
func (w *World) Fire(due []Due, free int) []Change {
	c := w.claims("fire")
	for _, d := range due[:min(len(due), max(free, 0))] {
		c.own(&w.Items[d.Item], Claim{Item: d.Item, Source: d.Source, Tick: d.Tick, Last: d.Tick})
	}
	return c.list
}

// StillWaiting lists the ticks of items that are due and wait for a thread, of those that
// were on time. free is how many could begin.
func (w *World) StillWaiting(k *Work, due []Due, free int) map[int]time.Time {
	waiting := map[int]time.Time{}
	for n, d := range due {
		if d.Source == Normal && k.Runs[d.Item] == nil && (n >= free || k.hasWaited(d.Item, d.Tick)) {
			waiting[d.Item] = d.Tick
		}
	}
	return waiting
}

// IsBeingDealtByJVM reports whether a JVM leader is dealing the items: then what is
// assigned now is about to change. Our own leaders need no such time; they have a session
// node, which a JVM has not.
func (w *World) IsBeingDealtByJVM() bool {
	if w.Leader == nil || !w.Necessary && !w.Processing {
		return false
	}
	_, ours := w.Sessions[w.Leader.ID]
	return !ours
}

// isIdle reports whether an item runs neither here nor, as far as the tree tells,
// elsewhere.
func isIdle(k *Work, i int, item *jobtree.Item) bool {
	return k.Runs[i] == nil && item.Running == nil
}
