package decide

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// movesFor returns who should own each item for now, if MaxItems bounds how many an instance may have.
// owners is who should when all have moved. An item moves to an instance only when that has capacity
// beside what it owns and runs now, because commits may be carried out in any order, or not at all. Until
// then it stays where it is. But if another item waits for the capacity that it takes there, it has no
// owner until the next pass: otherwise two items that are to change places would wait for each other.
//
// A wait for an idle item takes a pass or two. An item that would wait for the end of a run is placed
// elsewhere, or nowhere: see [World.Place].
func (w *World) movesFor(owners []string) []string {
	if owners == nil || w.Rules.Broadcast || !w.IsBounded() {
		return owners
	}
	m := moves{w: w, owners: slices.Clone(owners), capacity: capacity{}}
	m.reserveCurrent()
	surplus := w.surplus()
	var moving []int
	for i, owner := range owners {
		switch item := w.Item(i); {
		case owner == "" || item.Owner.Is(owner):
		case item.Owner != nil && (item.Running != nil || w.staysStatic(i, &item, owner, surplus)):
		default:
			moving = append(moving, i)
		}
	}
	slices.SortStableFunc(moving, func(a, b int) int { return m.order(a) - m.order(b) })
	m.keepWaiting(slices.DeleteFunc(moving, m.tryMove))
	return m.owners
}

// moves are the items that are to move, with the capacity for that.
type moves struct {
	w        *World
	owners   []string
	capacity capacity // of all instances, now
}

// reserveCurrent reserves what instances own and run now. Items that are pinned to an instance may be more
// than MaxItems.
func (m *moves) reserveCurrent() {
	w := m.w
	for id := range w.Instances {
		m.capacity[id] = w.Rules.MaxItems
	}
	to := map[string]int{}
	for i, owner := range m.owners {
		if w.isPinnedTo(i, owner) {
			to[owner]++
		}
	}
	for id, n := range to {
		m.capacity[id] = max(m.capacity[id], n)
	}
	for i := range w.Items {
		owner, runner := w.ownerAndRunner(&w.Items[i])
		m.capacity.reserve(owner)
		if runner != owner {
			m.capacity.reserve(runner)
		}
	}
}

// order puts items that await failover before others.
func (m *moves) order(i int) int {
	if m.w.awaitsFailover(i) {
		return 0
	}
	return 1
}

// tryMove reserves capacity for an item at its new owner, and reports whether there was any.
func (m *moves) tryMove(i int) bool {
	to, item := m.owners[i], m.w.Item(i)
	if _, runner := m.w.ownerAndRunner(&item); runner == to {
		return m.capacity[to] >= 0 // it counts there already
	}
	if m.capacity[to] < 1 {
		return false
	}
	m.capacity.reserve(to)
	return true
}

// keepWaiting leaves items with their owners for which there is no capacity yet, or without one if another
// item waits for the capacity there.
func (m *moves) keepWaiting(items []int) {
	wanted := map[string]bool{}
	for _, i := range items {
		wanted[m.owners[i]] = true
	}
	for _, i := range items {
		m.owners[i] = ""
		if owner := m.w.Item(i).Owner; owner != nil && !wanted[owner.ID] {
			m.owners[i] = owner.ID
		}
	}
}

// ownerAndRunner returns who owns an item, and who runs it; "" is nobody.
func (w *World) ownerAndRunner(item *jobtree.Item) (owner, runner string) {
	if item.Owner != nil {
		owner = item.Owner.ID
	}
	if item.Running != nil {
		runner = w.runnerOf(item)
	}
	return owner, runner
}

// AwaitsRunEnds reports whether an item runs elsewhere than where it is owned, or than the strategy's
// answer wants it: it takes capacity, and other items may have to wait for its end.
func (w *World) AwaitsRunEnds(answer []string) bool {
	if answer == nil || !w.IsBounded() {
		return false
	}
	for i := range w.Items {
		owner, runner := w.ownerAndRunner(&w.Items[i])
		if runner != "" && (i >= len(answer) || owner != runner || answer[i] != runner) {
			return true
		}
	}
	return false
}

// MaxRuns returns how many items this instance may run at a time: MaxItems, or as many as it owns because
// they are pinned to it; 0 is any number.
func (w *World) MaxRuns() int {
	if !w.IsBounded() {
		return 0
	}
	pinned := 0
	for i := range w.Pins {
		if item := w.Item(i); w.owns(&item) && w.isPinnedTo(i, w.Self.ID) {
			pinned++
		}
	}
	return max(w.Rules.MaxItems, pinned)
}

// ClaimCapacity returns how many of n items this instance may claim, beside what it runs.
func (w *World) ClaimCapacity(k *Work, n int) int {
	if !w.IsBounded() {
		return n
	}
	return max(min(n, w.MaxRuns()-len(k.Runs)-w.UnansweredClaims), 0)
}
