package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// In a broadcast job each instance owns one item, and runs each tick with it. No strategy is
// asked. An item begins anew with each owner, so nobody runs what another instance has missed,
// and whoever comes after a tick does not run it.

// Spread returns who should own each item of a broadcast job; nil if no instance may have
// items. An instance keeps its item as long as it may have one. The others get free items: whoever
// came first gets the lowest. Items that are left have no owner, which is "".
func (w *World) Spread() []string {
	kept := w.keptItems()
	var others []jobtree.Instance
	for id, in := range w.Instances {
		if _, has := kept[id]; !has && w.isEligible(in) {
			others = append(others, in)
		}
	}
	if len(kept)+len(others) == 0 {
		return nil
	}
	slices.SortFunc(others, func(a, b jobtree.Instance) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	owners := make([]string, w.Rules.Total)
	for id, i := range kept {
		owners[i] = id
	}
	for i := 0; i < len(owners) && len(others) > 0; i++ {
		if owners[i] == "" && w.isFree(i) {
			owners[i], others = others[0].ID, others[1:]
		}
	}
	return owners
}

// keptItems returns the item that each instance keeps: the one that it has had for longest. It
// has several if the job was no broadcast job before, or if two leaders have assigned.
func (w *World) keptItems() map[string]int {
	kept := map[string]int{}
	for i := range w.itemCount() {
		owner := w.Items[i].Owner
		if owner == nil {
			continue
		}
		if other, has := kept[owner.ID]; has && w.Items[other].Owner.Modified <= owner.Modified {
			continue
		}
		if in, isThere := w.Instances[owner.ID]; isThere && w.isEligible(in) {
			kept[owner.ID] = i
		}
	}
	return kept
}

// isFree reports whether an item without an owner that keeps it may get a new one: it does not run, the
// requests for its last owner have ended, and it is enabled.
func (w *World) isFree(i int) bool {
	item := w.Item(i)
	return item.Running == nil && !item.Disabled && w.currentRequest(i) == nil
}

// resetForNewOwner returns the operations that remove what an item of a broadcast job has of its last owner.
func (w *World) resetForNewOwner(i int, item *jobtree.Item) []coord.Op {
	var ops []coord.Op
	if item.Exists {
		ops = append(ops, coord.DeleteTree(w.Job.Cursor(i)))
	}
	if item.Owner == nil {
		ops = append(ops, coord.Absent(w.Job.Running(i)))
	}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(w.Job.Misfire(i)))
	}
	if item.Completed != nil {
		ops = append(append(ops, w.keepOutcome(i)...), coord.DeleteTree(w.Job.Completion(i)))
	}
	begun := jobtree.EncodeFired(w.correctedTime())
	if item.Fired == nil {
		return append(ops, coord.Create(w.Job.Fired(i), begun))
	}
	// Whoever had it has begun a tick, and is gone. Nothing but {i}/fired says so.
	ops = append(ops, w.recordCutMember(i, purposeOfRequest(w.requestOfCommit(i, item.Fired.Modified)), item.Fired.Run, jobtree.OutcomeCut)...)
	return append(ops, coord.SetAt(w.Job.Fired(i), begun, item.Fired.Version))
}

// isFullySpread reports whether as many items of a broadcast job have owners as can have.
func (w *World) isFullySpread(owners []string) bool {
	have := 0
	for _, owner := range owners {
		if owner != "" {
			have++
		}
	}
	return have == min(w.EligibleCount(), len(owners))
}

// EligibleCount returns how many instances are eligible.
func (w *World) EligibleCount() int {
	n := 0
	for _, in := range w.Instances {
		if w.isEligible(in) {
			n++
		}
	}
	return n
}

// LacksItem reports whether this instance should have an item of a broadcast job, and has none.
func (w *World) LacksItem() bool {
	in, isThere := w.Instances[w.Self.ID]
	if !w.Rules.Broadcast || !isThere || !w.isEligible(in) || w.EligibleCount() > w.Rules.Total {
		return false
	}
	for i := range w.itemCount() {
		if w.owns(&w.Items[i]) {
			return false
		}
	}
	return true
}

// AnyJVM returns the least id of the JVM members that are there; "" if there are none.
func (w *World) AnyJVM() string {
	least := ""
	for id := range w.Instances {
		if w.isJVM(id) && (least == "" || id < least) {
			least = id
		}
	}
	return least
}

// LastBegun is the last tick that a process has begun by the schedule: as which instance, and with which item.
type LastBegun struct {
	Instance string
	Item     int
	Tick     time.Time
}

// hasBegunAsOther reports whether this process has begun a tick of a broadcast job with another item, or
// as another instance. The tree cannot tell that: a view may be late, and two leaders may each have given
// this instance an item.
func (w *World) hasBegunAsOther(k *Work, item int, tick time.Time) bool {
	t := k.LastBegun
	return w.Rules.Broadcast && !tick.After(t.Tick) && (t.Item != item || t.Instance != w.Self.ID) &&
		!t.Tick.After(w.Now.Add(FutureTolerance)) // else the clock was wrong then
}

// beginsAsOther reports whether this process has begun a tick of a broadcast job as another member
// (hasBegunAsOther), or has claimed another item for it.
func (w *World) beginsAsOther(k *Work, item int, tick time.Time) bool {
	if !w.Rules.Broadcast {
		return false
	}
	for i, r := range k.Runs {
		if i != item && r.isOfTick() && !tick.After(r.Tick) {
			return true
		}
	}
	return w.hasBegunAsOther(k, item, tick)
}

// isOfTick reports whether a claim is for a tick of the schedule.
func (c *Claim) isOfTick() bool { return c.Source == Normal || c.Source == Misfire }

// limitForBroadcast returns only the first of the items that are due in a broadcast job, in which this
// instance begins a tick with one item.
func (w *World) limitForBroadcast(due []Due) []Due {
	if w.Rules.Broadcast && len(due) > 1 {
		return due[:1]
	}
	return due
}
