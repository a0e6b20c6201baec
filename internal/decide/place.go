package decide

import (
	"math"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Place returns who should own each item: the strategy's answer, changed where items are pinned
// to instances and where an instance would have more than it may. An item that nobody may have
// gets no owner, which is "".
func (w *World) Place(owners []string) []string {
	if owners == nil || len(w.Pins) == 0 && !w.hasBounds() {
		return owners
	}
	p := placing{w: w, owners: slices.Clone(owners), room: map[string]int{}}
	for id, in := range w.Instances {
		if w.isEligible(in) {
			p.may = append(p.may, in)
			p.room[id] = w.bound(id)
		}
	}
	slices.SortFunc(p.may, func(a, b jobtree.Instance) int { return w.compare(a.ID, b.ID) })
	for i := range p.owners {
		p.pin(i)
	}
	if w.hasBounds() {
		p.limit()
	}
	return p.owners
}

// hasBounds reports whether an instance may not have any number of items.
func (w *World) hasBounds() bool { return w.Rules.MaxItems > 0 || w.anyCapped() }

// anyCapped reports whether an instance has said how many items it has room for.
func (w *World) anyCapped() bool {
	for _, s := range w.Sessions {
		if s.Capped {
			return true
		}
	}
	return false
}

// bound returns how many items an instance may have.
func (w *World) bound(id string) int {
	bound := math.MaxInt
	if w.Rules.MaxItems > 0 {
		bound = w.Rules.MaxItems
	}
	if s := w.Session(id); s.Capped {
		bound = min(bound, s.Room)
	}
	return bound
}

// placing is an answer that is being changed.
type placing struct {
	w      *World
	owners []string
	may    []jobtree.Instance // those that may have items, in the job's order
	room   map[string]int     // how many more items each may have
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
// idle ones, the last ones first. Items that are where they are pinned stay, and count. What runs
// elsewhere has room last: else it would keep room from items that may come now.
func (p *placing) limit() {
	has := map[string]int{}
	var left []int
	for c := pinned; c <= later; c++ {
		for i, owner := range p.owners {
			switch {
			case owner == "" || p.claim(i) != c:
			case p.room[owner] <= 0 && c != pinned:
				left = append(left, i)
			default:
				p.room[owner]--
				has[owner]++
			}
		}
	}
	for _, i := range left {
		p.owners[i] = ""
		if owner := p.previous(i); p.room[owner] > 0 { // only eligible ones have any
			p.owners[i] = owner
			p.room[owner]--
			has[owner]++
		}
	}
	slices.Sort(left)
	for _, i := range left {
		if p.owners[i] != "" {
			continue
		}
		to := ""
		for _, in := range p.may {
			if p.room[in.ID] > 0 && (to == "" || has[in.ID] < has[to]) {
				to = in.ID
			}
		}
		if to == "" {
			return
		}
		p.owners[i] = to
		p.room[to]--
		has[to]++
	}
}

// claim is how strongly an item belongs to the instance that it is to have, the strongest
// first.
type claim int

const (
	pinned  claim = iota // to this instance
	running              // there already
	there                // and idle
	comes                // from another one, or from none
	later                // from another one, and does not come as long as it runs
)

func (p *placing) claim(i int) claim {
	item, pin := p.w.Item(i), p.w.Pins[i]
	switch {
	case pin != nil && pin.Err == nil && pin.Matches(p.w.Instances[p.owners[i]]):
		return pinned
	case p.previous(i) != p.owners[i] && item.Running != nil && item.Owner != nil:
		return later
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
