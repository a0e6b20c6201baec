package decide

import "github.com/elasticjob-go/elasticjob/coord"

// Clean removes, as leader, what options that were switched off have left behind, so that nothing of it runs when
// they are switched on again. (In ElasticJob old failover items and misfire flags run then, B-10, B-22.) It also
// removes kills that came too late. It does not touch the records of runs: their runners remove these.
func (w *World) Clean() []Change {
	c := changes{w: w, step: "clean", isRepair: true, head: (*World).ifLeading}
	if !w.Rules.Failover {
		w.cleanFailovers(&c)
	}
	w.cleanMisfires(&c)
	w.cleanKills(&c)
	return c.list
}

func (w *World) cleanFailovers(c *changes) {
	for _, f := range w.FailoverItems {
		c.add(f.Item, coord.DeleteTree(w.Job.FailoverItem(f.Item)))
	}
	for i := range w.itemsToLookAt(len(w.Items)) {
		item := &w.Items[i]
		if item.Failovering != nil && item.Running == nil {
			c.add(i, coord.DeleteTree(w.Job.Failovering(i)), coord.DeleteTree(w.Job.Failover(i)))
		}
	}
}

func (w *World) cleanMisfires(c *changes) {
	for i := range w.itemsToLookAt(len(w.Items)) {
		item := &w.Items[i]
		switch {
		case !item.Misfire, item.Owner != nil && w.isJVM(item.Owner.ID): // a JVM member keeps its own account
		case !w.Rules.Misfire:
			c.add(i, coord.DeleteTree(w.Job.Misfire(i)))
		case item.Fired != nil && item.Running == nil && w.IsScheduleEffective() && w.judge(i, item, w.LastTickOf(i)) == notDue:
			// The schedule was changed while the item ran, so the missed tick was one of the old schedule.
			c.add(i, coord.AtVersion(w.Job.Fired(i), item.Fired.Version), coord.DeleteTree(w.Job.Misfire(i)))
		}
	}
}

// Sweep removes, as leader, the servers that have no instance and are in the state in which servers begin. A
// server that an operator has disabled stays, and so does one that he has enabled if servers begin disabled.
// (ElasticJob forgets that a server was disabled when it is away or restarts, B-60.)
func (w *World) Sweep() []Change {
	inUse := make(map[string]bool, len(w.Instances))
	for _, in := range w.Instances {
		inUse[in.IP] = true
	}
	c := changes{w: w, step: "sweep", isRepair: true, head: (*World).ifLeading}
	for ip, server := range w.Servers {
		if !inUse[ip] && server.Enabled != w.beginsDisabled() {
			c.add(NoItem, coord.AtVersion(w.Job.Server(ip), server.Version), coord.DeleteTree(w.Job.Server(ip)))
		}
	}
	return c.list
}
