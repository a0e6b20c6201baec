package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
)

// tidy removes, as leader, what is in everybody's way: nodes that a stranger has put
// below ours, which keep those from being removed, and nodes of instances that no session
// of the store owns.
func (w *world) tidy() []commit {
	c := chunk{step: "tidy", head: []coord.Op{w.leader()}}
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
// flags fire later), and triggers of instances that are gone (B-26).
func (w *world) clean() []commit {
	c := chunk{step: "clean", head: w.asLeader()}
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
	if !w.settings.monitor {
		for i, item := range w.Items {
			if item.Running != nil {
				c.add(i, coord.DeleteTree(w.job.Running(i)))
			}
		}
	}
	for id, trigger := range w.Triggers {
		if w.dead(id) {
			c.add(noItem, coord.AtVersion(w.job.Trigger(id), trigger.Version), coord.DeleteTree(w.job.Trigger(id)))
		}
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
	c := chunk{step: "sweep", head: w.asLeader()}
	for ip, server := range w.Servers {
		if !inUse[ip] && server.Enabled != w.settings.Disabled {
			c.add(noItem, coord.AtVersion(w.job.Server(ip), server.Version), coord.DeleteTree(w.job.Server(ip)))
		}
	}
	return c.commits
}
