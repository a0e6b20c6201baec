package decide

import "github.com/elasticjob-go/elasticjob/coord"

// Tidy removes, as leader, nodes of external writers that are in everybody's way: nodes below ours,
// because ours cannot be removed while they are there; and nodes of instances and failover marks that no
// session of the store owns.
func (w *World) Tidy() []Change {
	c := changes{w: w, step: "tidy", isRepair: true, head: func(w *World) []coord.Op { return []coord.Op{w.ifLeader()} }}
	whole := map[string]bool{} // nodes that are removed with all that is below them
	remove := func(n coord.Node) {
		whole[n.Path] = true
		c.add(NoItem, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path))
	}
	for id, in := range w.Instances {
		// While the session lives, its instance gives this identity up by itself. It would take
		// the removal of the instance's node for an order to shut down.
		if in.Owner == 0 && w.IsDead(id) {
			remove(in.Node)
		}
	}
	for _, s := range w.Sessions {
		if s.Owner == 0 {
			remove(s.Node)
		}
	}
	// A failover mark ends with its session. One without a session keeps everybody from claiming the item for
	// failover.
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

// isWithin reports whether a path is below one of others.
func isWithin(path string, others map[string]bool) bool {
	for path = coord.Parent(path); path != ""; path = coord.Parent(path) {
		if others[path] {
			return true
		}
	}
	return false
}
