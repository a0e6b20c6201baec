package decide

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Change is what a step wants done in one commit.
type Change struct {
	Step string
	Ops  []coord.Op
	// Parts are pieces of Ops that do not depend on each other, mostly one for each item. The operations before
	// the first part are conditions of all. A part that conflicts may be left out, and the rest committed.
	Parts []Part
	// IsRepair is set if the change only corrects what an external writer has done to the tree. If the same is
	// to be repaired again and again, it gets a back-off.
	IsRepair bool
	// Urgency says how soon it has to go if commits wait. Soonest are the ends of executions,
	// elections, failovers, and what an instance that leaves gives up. Sooner are late starts,
	// and what makes instances and items ready. Usual are ticks, and corrections.
	Urgency urgency.Level
}

// Part is a piece of a change. Its pointers say what follows when it is committed; most are nil.
type Part struct {
	Item     int                // NoItem if the part is about no item
	Claim    *Claim             // this item begins
	Ends     *Run               // this run has no record any more
	Misfires *Run               // the item of this run has its misfire flag
	Skips    *Skipped           // this tick was skipped
	Late     *jobtree.Guarantee // the time of Started for this tick is over

	from, to int // in Ops
}

// NoItem is the item of a part that is about none.
const NoItem = -1

// PartOf returns the index of the part to which an operation belongs; -1 if it is a condition of the whole change.
func (c *Change) PartOf(op int) int {
	return slices.IndexFunc(c.Parts, func(p Part) bool { return p.from <= op && op < p.to })
}

// Name returns a name for a part: its step and first path. It is the same in each pass.
func (c *Change) Name(p Part) string { return c.Step + " " + c.Path(p) }

// Path returns the first path of a part.
func (c *Change) Path(p Part) string { return c.Ops[p.from].Path }

// Keep returns the change with those of its parts for which keep is true.
func (c *Change) Keep(keep func(Part) bool) Change {
	if len(c.Parts) == 0 {
		return *c
	}
	rest := Change{Step: c.Step, IsRepair: c.IsRepair, Urgency: c.Urgency, Ops: slices.Clone(c.Ops[:c.Parts[0].from])}
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

// Halves returns two changes, each with half of the parts. It needs at least two.
func (c *Change) Halves() (first, second Change) {
	end := c.Parts[len(c.Parts)/2].from
	return c.Keep(func(p Part) bool { return p.from < end }), c.Keep(func(p Part) bool { return p.from >= end })
}

// Without returns the change without one of its parts.
func (c *Change) Without(part int) Change {
	out := c.Parts[part].from
	return c.Keep(func(p Part) bool { return p.from != out })
}

// Claims returns the claims of the change.
func (c *Change) Claims() []Claim {
	var claims []Claim
	for _, p := range c.Parts {
		if p.Claim != nil {
			claims = append(claims, *p.Claim)
		}
	}
	return claims
}

// changes builds a list of changes, each as large as a store takes in one commit.
type changes struct {
	w        *World // may be nil if there is no head
	step     string
	head     func(*World) []coord.Op // returns the conditions with which every change begins; nil if there are none
	most     int                     // how many parts a change may have; 0 is as many as the store takes
	isRepair bool
	urgency  urgency.Level
	list     []Change
	cost     int // of the last change, in operations: see coord.Cost
	size     int // of the last change, in bytes: see sizeOf
}

// add adds a part to the last change, or to a new one if that is full. The pointer that it
// returns is valid until the next call.
func (c *changes) add(item int, ops ...coord.Op) *Part {
	cost, size := coord.Cost(ops...), sizeOf(ops)
	if len(c.list) == 0 || c.cost+cost > coord.MaxOps || c.size+size > coord.MaxCommitBytes ||
		c.most > 0 && len(c.list[len(c.list)-1].Parts) == c.most {
		var head []coord.Op
		if c.head != nil {
			head = c.head(c.w)
		}
		c.list = append(c.list, Change{Step: c.step, IsRepair: c.isRepair, Urgency: c.urgency, Ops: head})
		c.cost, c.size = coord.Cost(head...), sizeOf(head)
	}
	last := &c.list[len(c.list)-1]
	from := len(last.Ops)
	last.Ops = append(last.Ops, ops...)
	last.Parts = append(last.Parts, Part{Item: item, from: from, to: len(last.Ops)})
	c.cost += cost
	c.size += size
	return &last.Parts[len(last.Parts)-1]
}

// sizeOf returns how many bytes ops count towards coord.MaxCommitBytes.
func sizeOf(ops []coord.Op) int {
	size := 0
	for _, op := range ops {
		size += len(op.Path) + len(op.Value)
	}
	return size
}

// InChunks puts groups of operations into as few changes as the store takes. A group is not
// divided. Each change begins with head.
func InChunks(step string, groups [][]coord.Op, head ...coord.Op) []Change {
	c := changes{step: step, head: func(*World) []coord.Op { return head }}
	for _, ops := range groups {
		c.add(NoItem, ops...)
	}
	return c.list
}
