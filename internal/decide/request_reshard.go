package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// NeedsReshard reports whether a JVM leader has assigned items wrongly: an item has no owner, or one that is gone
// or whose server is disabled; or there are items for all instances, and one of ours has none. A JVM looks who is
// there and then removes the mark necessary, so it overlooks whoever comes or goes in between.
func (w *World) NeedsReshard() bool {
	if !w.IsMixed() || !w.JVMLeads() || !w.IsCoordinator() || w.Necessary || w.Processing || w.Rules.StaticSharding || w.Rules.Broadcast {
		return false
	}
	without := map[string]bool{} // those that JVM members give items; true for those of ours that have none
	for id, in := range w.Instances {
		if in.Owner != 0 && w.ServerEnabled(in.IP) {
			without[id] = !w.isJVM(id) && w.isEligible(in)
		}
	}
	if len(without) == 0 {
		return false
	}
	mayAll := len(without) <= w.Rules.Total
	for i := range w.Rules.Total {
		owner := w.Item(i).Owner
		if owner == nil {
			return true
		}
		if _, may := without[owner.ID]; !may {
			return true
		}
		without[owner.ID] = false
	}
	for _, hasNone := range without {
		if hasNone && mayAll {
			return true
		}
	}
	return false
}

// RequestReshard asks a JVM leader to assign the items again.
func (w *World) RequestReshard() Change {
	return Change{Step: "request reshard", Urgency: urgency.Sooner, IsRepair: true, Ops: []coord.Op{
		w.ifSessionLives(), coord.AtVersion(w.Job.LeaderInstance(), w.Leader.Version),
		coord.Absent(w.Job.Processing()), coord.Create(w.Job.Necessary(), []byte("")),
	}}
}
