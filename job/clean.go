package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
)

// clean removes, as leader, what options that were switched off have left behind, so
// that nothing of it wakes up when they are switched on again (B-10, B-22), and
// triggers of instances that are gone (B-26).
func (w *world) clean() []commit {
	c := chunk{step: "clean", head: w.asLeader()}
	if !w.settings.Failover {
		if len(w.FailoverItems) > 0 {
			c.add(coord.DeleteTree(w.job.FailoverItems()))
		}
		for i, item := range w.Items {
			if item.Failovering != nil && item.Running == nil {
				c.add(coord.DeleteTree(w.job.Failovering(i)), coord.DeleteTree(w.job.Failover(i)))
			}
		}
	}
	tick := w.lastTick()
	for i, item := range w.Items {
		switch {
		case !item.Misfire:
		case !w.settings.misfire:
			c.add(coord.DeleteTree(w.job.Misfire(i)))
		case item.Fired != nil && item.Running == nil && w.inForce() && w.judge(item, tick) == notDue:
			// The schedule was changed while the item ran: what it missed was of the old one.
			c.add(coord.AtVersion(w.job.Fired(i), item.Fired.Version), coord.DeleteTree(w.job.Misfire(i)))
		}
	}
	if !w.settings.monitor {
		for i, item := range w.Items {
			if item.Running != nil {
				c.add(coord.DeleteTree(w.job.Running(i)))
			}
		}
	}
	for id, trigger := range w.Triggers {
		if w.dead(id) {
			c.add(coord.AtVersion(w.job.Trigger(id), trigger.Version), coord.Delete(w.job.Trigger(id)))
		}
	}
	return c.commits
}

// sweep removes, as leader and once in a while, the servers that have no instance and
// of which an operator has said nothing. What he disabled stays (B-60).
func (w *world) sweep() []commit {
	inUse := make(map[string]bool, len(w.Instances))
	for _, in := range w.Instances {
		inUse[in.IP] = true
	}
	c := chunk{step: "sweep", head: w.asLeader()}
	if w.settings.Disabled {
		return nil // where servers begin disabled, only an operator enables them
	}
	for ip, server := range w.Servers {
		if !inUse[ip] && server.Enabled {
			c.add(coord.AtVersion(w.job.Server(ip), server.Version), coord.Delete(w.job.Server(ip)))
		}
	}
	return c.commits
}
