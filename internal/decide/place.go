package decide

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Place returns who should own each item: the strategy's answer, changed where items are pinned
// to instances and where an instance would have more than it may. An item that nobody may have
// gets no owner, which is "".
func (w *World) Place(owners []string) []string {
	if owners == nil || len(w.Pins) == 0 && w.Rules.MaxItems == 0 {
		return owners
	}
	p := placing{w: w, owners: slices.Clone(owners), has: map[string]int{}}
	for id, in := range w.Instances {
		if w.isEligible(in) {
			p.may = append(p.may, in)
			p.has[id] = 0
		}
	}
	slices.SortFunc(p.may, func(a, b jobtree.Instance) int { return w.compare(a.ID, b.ID) })
	for i := range p.owners {
		p.pin(i)
	}
	for _, owner := range p.owners {
		p.has[owner]++
	}
	if w.Rules.MaxItems > 0 {
		p.limit()
	}
	return p.owners
}

// placing is an answer that is being changed.
type placing struct {
	w      *World
	owners []string
	may    []jobtree.Instance // those that may have items, in the job's order
	has    map[string]int     // how many items each has
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
	previous := p.w.Item(i).Owner
	switch {
	case len(matching) == 0 && pin.Strict:
		p.owners[i] = ""
	case len(matching) == 0, slices.Contains(matching, p.owners[i]):
	case previous != nil && slices.Contains(matching, previous.ID):
		p.owners[i] = previous.ID
	default:
		p.owners[i] = matching[i%len(matching)]
	}
}

// limit takes items from instances that have more than they may, the last ones first, and gives
// them to those that have the least. Items that are pinned stay, and count.
func (p *placing) limit() {
	var left []int
	for i := len(p.owners) - 1; i >= 0; i-- {
		if owner := p.owners[i]; owner != "" && p.w.Pins[i] == nil && p.has[owner] > p.w.Rules.MaxItems {
			p.has[owner]--
			p.owners[i] = ""
			left = append(left, i)
		}
	}
	for _, i := range slices.Backward(left) {
		var to string
		for _, in := range p.may {
			if has := p.has[in.ID]; has < p.w.Rules.MaxItems && (to == "" || has < p.has[to]) {
				to = in.ID
			}
		}
		if to == "" {
			return
		}
		p.owners[i] = to
		p.has[to]++
	}
}
