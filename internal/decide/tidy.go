package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
)

// Tidy removes, as leader, what is in everybody's way: nodes that a stranger has put below
// ours, which keep those from being removed, and nodes of instances, and marks of theirs,
// that no session of the store owns.
func (w *World) Tidy() []Change {
	c := changes{step: "tidy", heals: true, head: []coord.Op{w.ifLeader()}}
	whole := map[string]bool{} // what is removed with all that is below it
	remove := func(n coord.Node) {
		whole[n.Path] = true
		c.add(NoItem, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path))
	}
	for id, in := range w.Instances {
		// One whose session lives leaves this identity by itself. If its node went before, it
		// would take that for an operator's word to shut down.
		if in.Owner == 0 && w.IsDead(id) {
			remove(in.Node)
		}
	}
	for _, s := range w.Sessions {
		if s.Owner == 0 {
			remove(s.Node)
		}
	}
	// The mark of one who takes a run over ends with its session. One that does not is
	// nobody's, and in the way of all who would.
	for i := range w.Items {
		if mark := w.Items[i].Failover; mark != nil && mark.Owner == 0 {
			remove(mark.Node)
		}
	}
	for _, n := range w.Debris {
		if !isWithin(n.Path, whole) {
			c.add(NoItem, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path))
		}
	}
	return c.list
}

// isWithin reports whether a node is below one of others.
func isWithin(path string, others map[string]bool) bool {
	for path = coord.Parent(path); path != ""; path = coord.Parent(path) {
		if others[path] {
			return true
		}
	}
	return false
}
