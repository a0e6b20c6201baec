package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// tidy removes, as leader, what is in everybody's way: nodes that a stranger has put
// below ours, which keep those from being removed, and nodes of instances, and marks of
// theirs, that no session of the store owns.
func (w *world) tidy() []commit {
	c := chunk{step: "tidy", heals: true, head: []coord.Op{w.leader()}}
	whole := map[string]bool{} // what is removed with all that is below it
	nobodys := func(n coord.Node) {
		whole[n.Path] = true
		c.add(noItem, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path))
	}
	for id, in := range w.Instances {
		// One whose session lives leaves this identity by itself. If its node went before,
		// it would take that for an operator's word to shut down.
		if in.Owner == 0 && w.dead(id) {
			nobodys(in.Node)
		}
	}
	for _, s := range w.Sessions {
		if s.Owner == 0 {
			nobodys(s.Node)
		}
	}
	// The mark of one who takes a run over ends with its session. One that does not is
	// nobody's, and in the way of all who would.
	for i := range w.Items {
		if mark := w.Items[i].Failover; mark != nil && mark.Owner == 0 {
			nobodys(mark.Node)
		}
	}
	for _, n := range w.Debris {
		if !isWithin(n.Path, whole) {
			c.add(noItem, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path))
		}
	}
	return c.commits
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

// clean removes, as leader, what options that were switched off have left behind, so
// that nothing of it wakes up when they are switched on again (B-10, B-22: there old
// flags fire later), and triggers of instances that have left (B-26), which the leader takes
// itself. Records of runs that were begun with records are left to those who run them.
func (w *world) clean() []commit {
	c := chunk{step: "clean", heals: true, head: w.asLeader()}
	if !w.settings.Failover {
		for _, f := range w.FailoverItems {
			c.add(f.Item, coord.DeleteTree(w.job.FailoverItem(f.Item)))
		}
		for i, item := range w.Items {
			if item.Failovering != nil && item.Running == nil {
				c.add(i, coord.DeleteTree(w.job.Failovering(i)), coord.DeleteTree(w.job.Failover(i)))
			}
		}
	}
	tick := w.lastTick()
	for i, item := range w.Items {
		switch {
		case !item.Misfire:
		case !w.settings.misfire:
			c.add(i, coord.DeleteTree(w.job.Misfire(i)))
		case item.Fired != nil && item.Running == nil && w.inForce() && w.judge(item, tick) == notDue:
			// The schedule was changed while the item ran: what it missed was of the old one.
			c.add(i, coord.AtVersion(w.job.Fired(i), item.Fired.Version), coord.DeleteTree(w.job.Misfire(i)))
		}
	}
	for id, trigger := range w.Triggers {
		// An instance that is out of the tree obeys no more, whether it runs something yet
		// or not, and never comes back.
		if _, there := w.Instances[id]; there {
			continue
		}
		path := w.job.Trigger(id)
		ops := []coord.Op{coord.AtVersion(path, trigger.Version), coord.DeleteTree(path)}
		if coord.ValidatePath(w.job.Instance(id)) == nil {
			ops = append(ops, coord.Absent(w.job.Instance(id))) // a view may show the trigger first
		}
		last := c.add(noItem, ops...)
		if last.lost == nil {
			last.lost = map[string]jobtree.Trigger{}
		}
		last.lost[path] = trigger
	}
	return c.commits
}

// sweep removes, as leader and once in a while, the servers that have no instance and
// of which an operator has said nothing. What he disabled stays (B-60), or what he enabled
// where servers begin disabled.
func (w *world) sweep() []commit {
	inUse := make(map[string]bool, len(w.Instances))
	for _, in := range w.Instances {
		inUse[in.IP] = true
	}
	c := chunk{step: "sweep", heals: true, head: w.asLeader()}
	for ip, server := range w.Servers {
		if !inUse[ip] && server.Enabled != w.settings.Disabled {
			c.add(noItem, coord.AtVersion(w.job.Server(ip), server.Version), coord.DeleteTree(w.job.Server(ip)))
		}
	}
	return c.commits
}
