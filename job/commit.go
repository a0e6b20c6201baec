package job

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// commit is what a step wants done in one commit.
type commit struct {
	step string
	ops  []coord.Op
	// parts are the pieces of ops that do not need each other, mostly one for each item.
	// What stands before the first of them is needed by all. A part that cannot be done
	// is left out, and the rest goes on.
	parts []part
	// claims are the runs that begin if it succeeds, ends those whose records it
	// removes, misses those for which it sets the misfire flag.
	claims, ends, misses []*run
	// heals is set where it only corrects what somebody else has done to the tree.
	heals bool
	// lost are triggers that parts of it remove, by their paths.
	lost map[string]jobtree.Trigger
}

// part is ops[from:to] of a commit. Runs of the item go with it.
type part struct{ from, to, item int }

// noItem is the item of a part that is about none.
const noItem = -1

// holding returns the part that an operation belongs to; -1 if all of the commit needs it.
func (c *commit) holding(op int) int {
	return slices.IndexFunc(c.parts, func(p part) bool { return p.from <= op && op < p.to })
}

// name tells a part from others of its step, from one pass to the next.
func (c *commit) name(p part) string { return c.step + " " + c.ops[p.from].Path }

// only returns the commit with those of its parts that are kept.
func (c *commit) only(keep func(part) bool) commit {
	if len(c.parts) == 0 {
		return *c
	}
	rest := commit{step: c.step, heals: c.heals, lost: c.lost, ops: slices.Clone(c.ops[:c.parts[0].from])}
	out := map[int]bool{}
	for _, p := range c.parts {
		if !keep(p) {
			out[p.item] = true
			continue
		}
		from := len(rest.ops)
		rest.ops = append(rest.ops, c.ops[p.from:p.to]...)
		rest.parts = append(rest.parts, part{from, len(rest.ops), p.item})
	}
	stays := func(runs []*run) []*run {
		return slices.DeleteFunc(slices.Clone(runs), func(r *run) bool { return out[r.item] })
	}
	rest.claims, rest.ends, rest.misses = stays(c.claims), stays(c.ends), stays(c.misses)
	return rest
}

// chunk fills commits up to what a store takes in one.
type chunk struct {
	step    string
	head    []coord.Op // conditions that every commit of the step begins with
	most    int        // parts of a commit; 0 is as many as the store takes
	heals   bool       // see commit
	commits []commit
	cost    int
	size    int
}

// add appends a part, in a new commit if the last one is full.
func (c *chunk) add(item int, ops ...coord.Op) *commit {
	cost, size := coord.Cost(ops...), sizeOf(ops)
	if len(c.commits) == 0 || c.cost+cost > coord.MaxOps || c.size+size > coord.MaxCommitBytes ||
		c.most > 0 && len(c.commits[len(c.commits)-1].parts) == c.most {
		c.commits = append(c.commits, commit{step: c.step, heals: c.heals, ops: slices.Clone(c.head)})
		c.cost, c.size = coord.Cost(c.head...), sizeOf(c.head)
	}
	last := &c.commits[len(c.commits)-1]
	from := len(last.ops)
	last.ops = append(last.ops, ops...)
	last.parts = append(last.parts, part{from, len(last.ops), item})
	c.cost += cost
	c.size += size
	return last
}

// sizeOf is what ops count towards coord.MaxCommitBytes.
func sizeOf(ops []coord.Op) int {
	size := 0
	for _, op := range ops {
		size += len(op.Path) + len(op.Value)
	}
	return size
}
