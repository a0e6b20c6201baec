package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Due is an item of this instance that is to begin for a tick.
type Due struct {
	Item   int
	Tick   time.Time
	Source Source
}

// Due lists the items that are to begin here for their last tick. The item that has waited longest since
// its last begin comes first.
func (w *World) Due(k *Work) []Due {
	if w.LastTick().IsZero() || !w.Rules.Monitor || !w.IsActive() || w.IsPaused() {
		return nil
	}
	again := map[int]bool{} // items that await failover, which comes before a make-up, whoever claims them
	if w.mayFailOver() {
		for _, f := range w.claimableFailovers(k) {
			again[f.Item] = true
		}
	}
	var list []Due
	for i := range w.itemsToLookAt(w.itemCount()) {
		item, tick := &w.Items[i], w.LastTickOf(i)
		if !w.owns(item) || item.Disabled || k.Runs[i] != nil || item.Running != nil || w.isTakenByJVM(item) || k.hasBegun(i, tick) || w.beginsAsOther(k, i, tick) {
			continue
		}
		switch w.judge(i, item, tick) {
		case onTime:
			if again[i] && w.IsMixed() {
				continue // a JVM that takes it over while it runs would run nothing else until its next fire
			}
			list = append(list, Due{i, tick, Normal})
		case makeUp:
			if !again[i] {
				list = append(list, Due{i, tick, Misfire})
			}
		case notMadeUp:
			if k.isWaitingOnTime(i, tick) {
				list = append(list, Due{i, tick, Normal})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Due) int {
		return w.Items[a.Item].Fired.Tick.Compare(w.Items[b.Item].Fired.Tick)
	})
	return w.limitForBroadcast(list)
}

// Fire claims items that are due, but not more than there are threads for: nobody else can run a claimed item. The
// conditions of a claim are that the item is still assigned here, that it does not run, that its tick was not
// begun, and that the job was not paused. So a tick of an item starts at most once, whoever owns the item. Items
// that still run are left alone, and the others do not wait for them. (In ElasticJob an item that runs elsewhere
// misses its tick without a trace, B-20, and one long run delays the other items, B-40.)
func (w *World) Fire(due []Due, free int) []Change {
	var list []Change
	for _, some := range w.ByTick(due[:min(len(due), max(free, 0))]) {
		list = append(list, w.fireTick(some)...)
	}
	return list
}

// ByTick splits what is due by ticks, the earliest first, if once-listeners are told of ticks: with jitter
// an item may be due for a tick while others are due for the next one. Otherwise all are together.
func (w *World) ByTick(due []Due) [][]Due {
	if len(due) == 0 {
		return nil
	}
	if !w.Rules.Once || w.Rules.Jitter == 0 {
		return [][]Due{due}
	}
	due = slices.Clone(due)
	slices.SortStableFunc(due, func(a, b Due) int { return a.Tick.Compare(b.Tick) })
	var list [][]Due
	for len(due) > 0 {
		n := slices.IndexFunc(due, func(d Due) bool { return d.Tick.After(due[0].Tick) })
		if n < 0 {
			n = len(due)
		}
		list, due = append(list, due[:n]), due[n:]
	}
	return list
}

// fireTick is Fire for one part of ByTick.
func (w *World) fireTick(due []Due) []Change {
	g := w.Guarantee(due[0].Tick)
	c := w.otherClaims("fire", due[0].Tick, g)
	members := c
	if g != nil {
		members = w.memberClaims("fire", g)
	}
	if due[0].Source == Misfire {
		c.urgency, members.urgency = urgency.Sooner, urgency.Sooner
	}
	for _, d := range due {
		to := c
		if w.isOpenMember(g, d.Item) {
			to = members
		}
		to.own(&w.Items[d.Item], Claim{Item: d.Item, Source: d.Source, Tick: d.Tick, Last: d.Tick})
	}
	if members == c {
		return c.list
	}
	return slices.Concat(members.list, c.list)
}

// StillWaiting returns the ticks of items that are on time and cannot begin because no thread is free, or
// because the item runs for a backfill. free is how many items could begin. An item that waits stays in
// the list until it runs.
func (w *World) StillWaiting(k *Work, due []Due, free int) map[int]time.Time {
	waiting := map[int]time.Time{}
	for n, d := range due {
		if d.Source == Normal && k.Runs[d.Item] == nil && (n >= free || k.isWaitingOnTime(d.Item, d.Tick)) {
			waiting[d.Item] = d.Tick
		}
	}
	for i, r := range k.Runs {
		item, tick := w.Item(i), w.LastTickOf(i)
		if r.Source == Backfill && w.owns(&item) && !w.IsPaused() && (w.judge(i, &item, tick) == onTime || k.isWaitingOnTime(i, tick)) {
			waiting[i] = tick
		}
	}
	return waiting
}

// IsJVMResharding reports whether a JVM leader is assigning the items, so that owners are about to change.
// A leader of ours, which its session's node tells from a JVM, writes neither of the two nodes.
func (w *World) IsJVMResharding() bool {
	if w.Leader == nil || !w.Necessary && !w.Processing {
		return false
	}
	_, ours := w.Sessions[w.Leader.ID]
	return !ours
}

// isRunnableHere reports whether an item is assigned to this instance and enabled, and no JVM member has
// taken it for failover.
func (w *World) isRunnableHere(i int, item *jobtree.Item) bool {
	return w.owns(item) && !item.Disabled && !w.isTakenByJVM(item)
}

// isIdle reports whether an item runs neither here nor, by the tree, elsewhere.
func isIdle(k *Work, i int, item *jobtree.Item) bool {
	return k.Runs[i] == nil && item.Running == nil
}
