package decide

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Change is what a step wants done in one commit.
type Change struct {
	Step string
	Ops  []coord.Op
	// Parts are the pieces of Ops that do not need each other, mostly one for each item.
	// What stands before the first of them is needed by all. A part that cannot be done is
	// left out, and the rest goes on.
	Parts []Part
	// Heals is set where it only corrects what somebody else has done to the tree.
	Heals bool
}

// Part is a piece of a change, with what follows from it once it is committed.
type Part struct {
	Item   int              // NoItem if it is about none
	Claim  *Claim           // begins
	Ends   *Run             // has no record any more
	Flags  *Run             // has its misfire flag
	Takes  *jobtree.Trigger // is removed, and has to be obeyed by whoever did that
	Passes *Passed          // was passed over

	from, to int // in Ops
}

// NoItem is the item of a part that is about none.
const NoItem = -1

// Holding returns the part that an operation belongs to; -1 if the whole change needs it.
func (c *Change) Holding(op int) int {
	return slices.IndexFunc(c.Parts, func(p Part) bool { return p.from <= op && op < p.to })
}

// Name tells a part from others of its step. It is the same in each pass.
func (c *Change) Name(p Part) string { return c.Step + " " + c.Path(p) }

// Path is the first path of a part.
func (c *Change) Path(p Part) string { return c.Ops[p.from].Path }

// Only returns the change with those of its parts that are kept.
func (c *Change) Only(keep func(Part) bool) Change {
	if len(c.Parts) == 0 {
		return *c
	}
	rest := Change{Step: c.Step, Heals: c.Heals, Ops: slices.Clone(c.Ops[:c.Parts[0].from])}
	for _, p := range c.Parts {
		if !keep(p) {
			continue
		}
		ops := c.Ops[p.from:p.to]
		p.from = len(rest.Ops)
		rest.Ops = append(rest.Ops, ops...)
		p.to = len(rest.Ops)
		rest.Parts = append(rest.Parts, p)
	}
	return rest
}

// FirstHalf returns the change with the first half of its parts, of which there are two
// at least.
func (c *Change) FirstHalf() Change {
	end := c.Parts[len(c.Parts)/2].from
	return c.Only(func(p Part) bool { return p.from < end })
}

// Without returns the change without one of its parts.
func (c *Change) Without(part int) Change {
	out := c.Parts[part].from
	return c.Only(func(p Part) bool { return p.from != out })
}

// Claims are the items that begin with the change.
func (c *Change) Claims() []Claim {
	var claims []Claim
	for _, p := range c.Parts {
		if p.Claim != nil {
			claims = append(claims, *p.Claim)
		}
	}
	return claims
}

// changes fills changes up to what a store takes in one commit.
type changes struct {
	step  string
	head  []coord.Op // conditions that every change of the step begins with
	most  int        // parts of a change; 0 is as many as the store takes
	heals bool
	list  []Change
	cost  int
	size  int
}

// add appends a part, in a new change if the last one is full. What it returns is good
// until the next part is added.
func (c *changes) add(item int, ops ...coord.Op) *Part {
	cost, size := coord.Cost(ops...), sizeOf(ops)
	if len(c.list) == 0 || c.cost+cost > coord.MaxOps || c.size+size > coord.MaxCommitBytes ||
		c.most > 0 && len(c.list[len(c.list)-1].Parts) == c.most {
		c.list = append(c.list, Change{Step: c.step, Heals: c.heals, Ops: slices.Clone(c.head)})
		c.cost, c.size = coord.Cost(c.head...), sizeOf(c.head)
	}
	last := &c.list[len(c.list)-1]
	from := len(last.Ops)
	last.Ops = append(last.Ops, ops...)
	last.Parts = append(last.Parts, Part{Item: item, from: from, to: len(last.Ops)})
	c.cost += cost
	c.size += size
	return &last.Parts[len(last.Parts)-1]
}

// sizeOf is what ops count towards coord.MaxCommitBytes.
func sizeOf(ops []coord.Op) int {
	size := 0
	for _, op := range ops {
		size += len(op.Path) + len(op.Value)
	}
	return size
}

// InChunks puts groups of ops that belong together into as few changes as the store takes.
func InChunks(step string, groups [][]coord.Op) []Change {
	c := changes{step: step}
	for _, ops := range groups {
		c.add(NoItem, ops...)
	}
	return c.list
}
