package decide

import (
	"cmp"
	"math"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Place returns who should own each item: the strategy's answer, changed where items are pinned
// to instances and where an instance would have more than it may. An item that nobody may have
// gets no owner, which is "".
func (w *World) Place(owners []string) []string {
	if owners == nil || len(w.Pins) == 0 && !w.HasBounds() {
		return owners
	}
	p := placing{w: w, owners: slices.Clone(owners), room: map[string]int{}, has: map[string]int{}}
	for id, in := range w.Instances {
		if w.isEligible(in) {
			p.may = append(p.may, in)
			p.room[id] = w.bound()
		}
	}
	slices.SortFunc(p.may, func(a, b jobtree.Instance) int { return w.compare(a.ID, b.ID) })
	for i := range p.owners {
		p.pin(i)
	}
	if w.HasBounds() {
		p.leaveStatic()
		p.limit()
	}
	return p.owners
}

// leaveStatic leaves items where static sharding keeps them, so that they count there.
func (p *placing) leaveStatic() {
	surplus := p.w.surplus()
	for i := range min(len(p.owners), p.w.items()) {
		item := &p.w.Items[i]
		if item.Owner == nil || item.Running != nil || item.Owner.ID == p.owners[i] || !p.mayHave(item.Owner.ID) || p.w.isPinnedAway(i, item, p.owners[i]) {
			continue
		}
		if p.w.stays(item.Owner.ID, surplus) {
			p.owners[i] = item.Owner.ID
		}
	}
}

// HasBounds reports whether an instance may not have any number of items.
func (w *World) HasBounds() bool { return w.Rules.MaxItems > 0 }

// bound returns how many items an instance may have.
func (w *World) bound() int {
	if !w.HasBounds() {
		return math.MaxInt
	}
	return w.Rules.MaxItems
}

// placing is an answer that is being changed.
type placing struct {
	w      *World
	owners []string
	may    []jobtree.Instance // those that may have items, in the job's order
	room   map[string]int     // how many more items each may have
	has    map[string]int     // how many it is to have
}

// pin gives an item that is pinned to one of the instances that it is pinned to: to the one
// that has it, if that is one of them.
func (p *placing) pin(i int) {
	pin := p.w.Pins[i]
	if pin == nil || pin.Err != nil {
		return
	}
	var matching []string
	for _, in := range p.may {
		if pin.Matches(in) {
			matching = append(matching, in.ID)
		}
	}
	previous := p.previous(i)
	switch {
	case len(matching) == 0 && pin.Strict:
		p.owners[i] = ""
	case len(matching) == 0, slices.Contains(matching, p.owners[i]):
	case slices.Contains(matching, previous):
		p.owners[i] = previous
	default:
		p.owners[i] = matching[i%len(matching)]
	}
}

// isPinnedAway reports whether an item is to leave its owner, which is there, because it is
// pinned to others: static sharding does not keep it then. to is who should own it, or "".
func (w *World) isPinnedAway(i int, item *jobtree.Item, to string) bool {
	pin := w.Pins[i]
	if pin == nil || pin.Err != nil {
		return false
	}
	if owner, isThere := w.Instances[item.Owner.ID]; !isThere || pin.Matches(owner) {
		return false
	}
	in, isThere := w.Instances[to]
	return isThere && pin.Matches(in) || to == "" && pin.Strict
}

// limit takes items from instances that have more than they may, and gives them to those that
// have the least. An instance loses items that are not there yet before those that are, then
// idle ones, the last ones first. Items that are where they are pinned stay, and count.
//
// An item that runs takes room where it runs, and at its owner, until that ends, wherever it is to go.
// Where it is to go it has room last: else it would keep room from items that may come now. Among
// those that may come, the ones that were cut short come first.
func (p *placing) limit() {
	claims := make([]claim, len(p.owners))
	for i := range p.owners {
		claims[i] = p.claim(i)
	}
	p.keep()
	var left []int
	for c := pinned; c <= later; c++ {
		for i, owner := range p.owners {
			switch {
			case owner == "" || claims[i] != c || c == running:
			case c == pinned || !p.isFull(owner):
				p.take(i, owner)
			default:
				left = append(left, i)
			}
		}
		if c == pinned {
			left = p.shed(claims, left)
		}
	}
	for _, i := range left {
		to := p.previous(i)
		isHere := p.isKept(i, to) && claims[i] != running // it has room there, or it could not go on
		if p.owners[i] = ""; isHere || !p.isFull(to) {
			p.owners[i] = to
			p.take(i, to)
		}
	}
	slices.SortFunc(left, func(a, b int) int {
		return cmp.Or(cmp.Compare(claims[a].order(), claims[b].order()), cmp.Compare(a, b))
	})
	for _, i := range left {
		if p.owners[i] != "" {
			continue
		}
		to := ""
		for _, in := range p.may {
			if !p.isFull(in.ID) && (to == "" || p.has[in.ID] < p.has[to]) {
				to = in.ID
			}
		}
		if to == "" {
			return
		}
		p.owners[i] = to
		p.take(i, to)
	}
}

// keep takes the room that items keep as long as they run.
func (p *placing) keep() {
	for i := range p.w.Items {
		owner, runner := p.w.holders(&p.w.Items[i])
		if runner == "" {
			continue
		}
		p.use(owner)
		if runner != owner {
			p.use(runner)
		}
	}
}

// isKept reports whether keep has taken room for an item at an instance, as its owner.
func (p *placing) isKept(i int, id string) bool {
	return p.w.Item(i).Running != nil && p.previous(i) == id && p.mayHave(id)
}

// shed takes the last items that run from instances where more run than may: these go when their runs
// have ended. It adds them to left.
func (p *placing) shed(claims []claim, left []int) []int {
	surplus := map[string]int{}
	for id, room := range p.room {
		surplus[id] = max(-room, 0)
	}
	for i, owner := range slices.Backward(p.owners) {
		switch {
		case claims[i] != running || owner == "":
		case !p.mayHave(owner), surplus[owner] > 0:
			surplus[owner]--
			left = append(left, i)
		default:
			p.has[owner]++
		}
	}
	return left
}

// take takes room for an item where it is to be.
func (p *placing) take(i int, id string) {
	p.has[id]++
	item := p.w.Item(i)
	if runsThere := item.Running != nil && p.w.runner(&item) == id; !runsThere && !p.isKept(i, id) {
		p.use(id)
	}
}

func (p *placing) use(id string) {
	if _, ok := p.room[id]; ok {
		p.room[id]--
	}
}

// mayHave reports whether an instance may have items.
func (p *placing) mayHave(id string) bool {
	_, may := p.room[id]
	return may
}

// isFull reports whether an instance may have no more items.
func (p *placing) isFull(id string) bool { return p.room[id] <= 0 } // also if it may have none

// claim is how strongly an item belongs to the instance that it is to have, the strongest
// first.
type claim int

const (
	pinned  claim = iota // to this instance
	running              // there already
	there                // and idle
	again                // from another one, or from none, and was cut short
	comes                // from another one, or from none
	later                // from another one, and does not come as long as it runs
)

// order is in which order items are placed that have no room where they were to be.
func (c claim) order() int {
	switch c {
	case again:
		return 0
	case running, later:
		return 2
	}
	return 1
}

func (p *placing) claim(i int) claim {
	item, pin := p.w.Item(i), p.w.Pins[i]
	switch {
	case pin != nil && pin.Err == nil && pin.Matches(p.w.Instances[p.owners[i]]):
		return pinned
	case p.previous(i) != p.owners[i] && item.Running != nil && item.Owner != nil:
		return later
	case p.previous(i) != p.owners[i] && p.w.waitsAgain(i):
		return again
	case p.previous(i) != p.owners[i]:
		return comes
	case item.Running != nil:
		return running
	}
	return there
}

// previous returns the owner of an item until now; "" if it has none.
func (p *placing) previous(i int) string {
	if owner := p.w.Item(i).Owner; owner != nil {
		return owner.ID
	}
	return ""
}
