package decide

import (
	"cmp"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Place returns who should own each item: the strategy's answer, changed where items are pinned to instances and
// where an instance would have more than MaxItems. An item that nobody may have gets no owner, which is "".
func (w *World) Place(owners []string) []string {
	if owners == nil || len(w.Pins) == 0 && !w.IsBounded() {
		return owners
	}
	p := placement{w: w, owners: slices.Clone(owners)}
	for _, in := range w.Instances {
		if w.isEligible(in) {
			p.eligible = append(p.eligible, in)
		}
	}
	slices.SortFunc(p.eligible, func(a, b jobtree.Instance) int { return w.compare(a.ID, b.ID) })
	for i := range p.owners {
		p.pin(i)
	}
	if w.IsBounded() {
		p.capacity, p.assigned = capacity{}, map[string]int{}
		for _, in := range p.eligible {
			p.capacity[in.ID] = w.Rules.MaxItems
		}
		p.keepStatic()
		p.applyMaxItems()
	}
	return p.owners
}

// keepStatic gives items back to the owners with which static sharding keeps them, so that they count there.
func (p *placement) keepStatic() {
	surplus := p.w.surplus()
	for i := range min(len(p.owners), p.w.itemCount()) {
		item := &p.w.Items[i]
		if item.Owner == nil || item.Running != nil || item.Owner.ID == p.owners[i] || !p.mayHave(item.Owner.ID) {
			continue
		}
		if p.w.staysStatic(i, item, p.owners[i], surplus) {
			p.owners[i] = item.Owner.ID
		}
	}
}

// IsBounded reports whether MaxItems bounds how many items an instance may have.
func (w *World) IsBounded() bool { return w.Rules.MaxItems > 0 }

// capacity is how many more items instances may have, by id.
type capacity map[string]int

// reserve takes one item from the capacity of an instance; an instance that is not in the map is left out.
func (r capacity) reserve(id string) {
	if _, ok := r[id]; ok {
		r[id]--
	}
}

// placement is the strategy's answer while Place changes it.
type placement struct {
	w        *World
	owners   []string
	eligible []jobtree.Instance // those that may have items, in the job's order
	capacity capacity           // of those; nil without a bound
	assigned map[string]int     // how many items each is to have; nil without a bound
}

// pin gives an item that is pinned to one of the eligible instances that its pin matches: to its present
// owner if that is one.
func (p *placement) pin(i int) {
	pin := p.w.Pins[i]
	if pin == nil || pin.Err != nil {
		return
	}
	var matching []string
	for _, in := range p.eligible {
		if pin.Matches(in) {
			matching = append(matching, in.ID)
		}
	}
	previous := p.currentOwner(i)
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

// isPinnedAway reports whether an item is to leave its owner, which is there, because it is pinned to
// others: static sharding does not keep it then. to is who should own it, or "".
func (w *World) isPinnedAway(i int, item *jobtree.Item, to string) bool {
	pin := w.Pins[i]
	if pin == nil || pin.Err != nil {
		return false
	}
	if _, isThere := w.Instances[item.Owner.ID]; !isThere || w.isPinnedTo(i, item.Owner.ID) {
		return false
	}
	return w.isPinnedTo(i, to) || to == "" && pin.Strict
}

// isPinnedTo reports whether an instance is there, and is one of those that an item is pinned to.
func (w *World) isPinnedTo(i int, id string) bool {
	pin := w.Pins[i]
	if pin == nil || pin.Err != nil {
		return false
	}
	in, isThere := w.Instances[id]
	return isThere && pin.Matches(in)
}

// applyMaxItems moves items from instances that would have more than MaxItems to those that have the
// least. Items are placed by priority; within one, the lower numbers first. Pinned items always stay.
//
// A running item counts towards MaxItems of the instance that runs it and of its owner until the run ends
// (reserveForRuns). Its future owner gets it last (incomingAfterRun), so that no item that can move now is
// refused for it.
func (p *placement) applyMaxItems() {
	priorities := make([]priority, len(p.owners))
	for i := range p.owners {
		priorities[i] = p.priorityOf(i)
	}
	p.reserveForRuns()
	left := p.placeByPriority(priorities)
	p.leaveWithOwners(priorities, left)
	slices.SortFunc(left, func(a, b int) int {
		return cmp.Or(cmp.Compare(priorities[a].reassignOrder(), priorities[b].reassignOrder()), cmp.Compare(a, b))
	})
	p.placeElsewhere(left)
}

// placeByPriority places items where they are to be, as far as there is capacity. It returns the others.
func (p *placement) placeByPriority(priorities []priority) (left []int) {
	for next := pinned; next <= incomingAfterRun; next++ {
		for i, owner := range p.owners {
			switch {
			case owner == "" || priorities[i] != next || next == runningHere:
			case next == pinned || !p.isFull(owner):
				p.assign(i, owner)
			default:
				left = append(left, i)
			}
		}
		if next == pinned {
			left = p.moveSurplus(priorities, left)
		}
	}
	return left
}

// leaveWithOwners leaves items with their present owners that have capacity for them. The others have no owner then.
func (p *placement) leaveWithOwners(priorities []priority, left []int) {
	for _, i := range left {
		to := p.currentOwner(i)
		isCounted := p.isReserved(i, to) && priorities[i] != runningHere // those of moveSurplus are to go
		if p.owners[i] = ""; isCounted || !p.isFull(to) {
			p.owners[i] = to
			p.assign(i, to)
		}
	}
}

// placeElsewhere gives items without an owner to the instances that have the least, as long as any has capacity.
func (p *placement) placeElsewhere(left []int) {
	for _, i := range left {
		if p.owners[i] != "" {
			continue
		}
		to := ""
		for _, in := range p.eligible {
			if !p.isFull(in.ID) && (to == "" || p.assigned[in.ID] < p.assigned[to]) {
				to = in.ID
			}
		}
		if to == "" {
			return
		}
		p.owners[i] = to
		p.assign(i, to)
	}
}

// reserveForRuns reserves the capacity that running items take.
func (p *placement) reserveForRuns() {
	for i := range p.w.Items {
		owner, runner := p.w.ownerAndRunner(&p.w.Items[i])
		if runner == "" {
			continue
		}
		p.capacity.reserve(owner)
		if runner != owner {
			p.capacity.reserve(runner)
		}
	}
}

// isReserved reports whether reserveForRuns has reserved capacity for an item at an instance, as its owner.
func (p *placement) isReserved(i int, id string) bool {
	return p.w.Item(i).Running != nil && p.currentOwner(i) == id && p.mayHave(id)
}

// moveSurplus finds the running items that are to leave their instance when their runs end, because it
// runs more than MaxItems: the last ones. It adds them to left, and counts the others as assigned.
func (p *placement) moveSurplus(priorities []priority, left []int) []int {
	surplus := map[string]int{}
	for id, free := range p.capacity {
		surplus[id] = max(-free, 0)
	}
	for i, owner := range slices.Backward(p.owners) {
		switch {
		case priorities[i] != runningHere || owner == "":
		case !p.mayHave(owner), surplus[owner] > 0:
			surplus[owner]--
			left = append(left, i)
		default:
			p.assigned[owner]++
		}
	}
	return left
}

// assign counts an item for its new owner, and reserves capacity unless reserveForRuns has done so.
func (p *placement) assign(i int, id string) {
	p.assigned[id]++
	item := p.w.Item(i)
	if runsThere := item.Running != nil && p.w.runnerOf(&item) == id; !runsThere && !p.isReserved(i, id) {
		p.capacity.reserve(id)
	}
}

// mayHave reports whether an instance may have items.
func (p *placement) mayHave(id string) bool {
	_, may := p.capacity[id]
	return may
}

// isFull reports whether an instance may have no more items, or none at all.
func (p *placement) isFull(id string) bool { return p.capacity[id] <= 0 }

// priority says how strongly an item belongs to the instance that it is to have. The highest comes first.
type priority int

const (
	pinned           priority = iota // to this instance
	runningHere                      // it is owned by this instance, and runs
	idleHere                         // it is owned by this instance, and idle
	failover                         // it comes from another instance or none, and awaits failover
	incoming                         // it comes from another instance or none
	incomingAfterRun                 // it comes from another instance when its run has ended
)

// reassignOrder is the order in which placeElsewhere places items.
func (c priority) reassignOrder() int {
	switch c {
	case failover:
		return 0
	case runningHere, incomingAfterRun:
		return 2
	}
	return 1
}

// priorityOf returns the priority of an item at the owner that it is to have.
func (p *placement) priorityOf(i int) priority {
	item := p.w.Item(i)
	switch {
	case p.w.isPinnedTo(i, p.owners[i]):
		return pinned
	case p.currentOwner(i) != p.owners[i] && item.Running != nil && item.Owner != nil:
		return incomingAfterRun
	case p.currentOwner(i) != p.owners[i] && p.w.awaitsFailover(i):
		return failover
	case p.currentOwner(i) != p.owners[i]:
		return incoming
	case item.Running != nil:
		return runningHere
	}
	return idleHere
}

// currentOwner returns the present owner of an item; "" if it has none.
func (p *placement) currentOwner(i int) string {
	if owner := p.w.Item(i).Owner; owner != nil {
		return owner.ID
	}
	return ""
}
