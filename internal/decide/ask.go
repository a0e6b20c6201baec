package decide

import "github.com/elasticjob-go/elasticjob/coord"

// LacksDeal reports whether a JVM leader has left something undone when it dealt: an item has no owner, or one
// that is gone or whose server is disabled; or there are items for all instances, and one of ours has none. A
// JVM removes the word that items are to be dealt after it has looked who is there; so whoever comes or goes
// in between is overlooked.
func (w *World) LacksDeal() bool {
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

// AskForDeal asks a JVM leader to deal the items again.
func (w *World) AskForDeal() Change {
	return Change{Step: "ask for a deal", Urgency: coord.Sooner, Heals: true, Ops: []coord.Op{
		w.ifMine(), coord.AtVersion(w.Job.LeaderInstance(), w.Leader.Version),
		coord.Absent(w.Job.Processing()), coord.Create(w.Job.Necessary(), []byte("")),
	}}
}
