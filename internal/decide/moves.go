package decide

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// inTurn returns who should own each item for now, if instances may not have any number of items. owners is
// who should when all have moved. An item goes to an instance only when that has room for it beside what it
// owns and what runs there: commits may be carried out in any order, or not at all. Until then it
// stays where it is; but if another item waits for the room that it has there, it has no owner until the next pass.
// Else items that are to change places would wait for each other.
//
// What waits for an idle item waits for a pass or two. What would wait for a run has another place, or none: see
// [World.Place].
func (w *World) inTurn(owners []string) []string {
	if owners == nil || w.Rules.Broadcast || !w.HasBounds() {
		return owners
	}
	m := moves{w: w, owners: slices.Clone(owners), room: map[string]int{}}
	m.fill()
	surplus := w.surplus()
	var moving []int
	for i, owner := range owners {
		switch item := w.Item(i); {
		case owner == "" || item.Owner.Is(owner):
		case item.Owner != nil && (item.Running != nil || !w.isPinnedAway(i, &item, owner) && w.stays(item.Owner.ID, surplus)):
		default:
			moving = append(moving, i)
		}
	}
	slices.SortStableFunc(moving, func(a, b int) int { return m.order(a) - m.order(b) })
	m.wait(slices.DeleteFunc(moving, m.move))
	return m.owners
}

// moves are items that move.
type moves struct {
	w      *World
	owners []string
	room   map[string]int // how many more items each instance may have now
}

// fill notes what instances have and run now. Items that are pinned to an instance may be more than it may
// have otherwise.
func (m *moves) fill() {
	w := m.w
	for id := range w.Instances {
		m.room[id] = w.bound()
	}
	to := map[string]int{}
	for i, owner := range m.owners {
		if pin := w.Pins[i]; pin != nil && pin.Err == nil && pin.Matches(w.Instances[owner]) {
			to[owner]++
		}
	}
	for id, n := range to {
		m.room[id] = max(m.room[id], n)
	}
	for i := range w.Items {
		owner, runner := w.holders(&w.Items[i])
		m.use(owner)
		if runner != owner {
			m.use(runner)
		}
	}
}

func (m *moves) use(id string) {
	if _, ok := m.room[id]; ok {
		m.room[id]--
	}
}

// order is in which order items move: first those that were cut short.
func (m *moves) order(i int) int {
	if m.w.waitsAgain(i) {
		return 0
	}
	return 1
}

// move takes room for an item where it is to go, and reports whether there is any.
func (m *moves) move(i int) bool {
	to, item := m.owners[i], m.w.Item(i)
	if _, runner := m.w.holders(&item); runner == to {
		return m.room[to] >= 0 // it counts there already
	}
	if m.room[to] < 1 {
		return false
	}
	m.use(to)
	return true
}

// wait keeps items where they are for which there is no room yet.
func (m *moves) wait(items []int) {
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

// holders returns who owns an item, and who runs it; "" is nobody.
func (w *World) holders(item *jobtree.Item) (owner, runner string) {
	if item.Owner != nil {
		owner = item.Owner.ID
	}
	if item.Running != nil {
		runner = w.runner(item)
	}
	return owner, runner
}

// AwaitsRuns reports whether an item runs that is to go elsewhere by the strategy's answer, or that runs
// elsewhere than it belongs, so that other items may have to wait for its end: it takes room.
func (w *World) AwaitsRuns(answer []string) bool {
	if answer == nil || !w.HasBounds() {
		return false
	}
	for i := range w.Items {
		owner, runner := w.holders(&w.Items[i])
		if runner != "" && (i >= len(answer) || owner != runner || answer[i] != runner) {
			return true
		}
	}
	return false
}

// MostRuns returns how many items this instance may run at a time: MaxItems, or as many as it owns because they
// are pinned to it. isBounded is false if it may run any number.
func (w *World) MostRuns() (most int, isBounded bool) {
	if w.Rules.MaxItems <= 0 {
		return 0, false
	}
	pinned := 0
	for i, pin := range w.Pins {
		if item := w.Item(i); w.owns(&item) && pin.Err == nil && pin.Matches(w.Instances[w.Self.ID]) {
			pinned++
		}
	}
	return max(w.Rules.MaxItems, pinned), true
}

// MayBegin returns how many of n items this instance may begin, beside what it runs.
func (w *World) MayBegin(k *Work, n int) int {
	most, isBounded := w.MostRuns()
	if !isBounded {
		return n
	}
	return max(min(n, most-len(k.Runs)-w.Strays), 0)
}

// mayTake returns how many items of others this instance may take over, beside what it owns and runs.
func (w *World) mayTake(k *Work) int {
	if w.Rules.MaxItems <= 0 {
		return len(w.FailoverItems)
	}
	room := w.Rules.MaxItems
	for i := range w.Items {
		if owner, runner := w.holders(&w.Items[i]); owner == w.Self.ID || runner == w.Self.ID || k.Runs[i] != nil {
			room--
		}
	}
	return max(min(len(w.FailoverItems), room), 0)
}
