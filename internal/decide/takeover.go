package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TakeOver claims items that wait to be run again: as many as have a free thread, several
// in a commit. (ElasticJob takes one at a time, B-09.) They are executions of their own
// beside those of this instance's items (there they hold those up, B-08), and whoever
// takes one need not own it. Instances begin at places of the list that are far from each
// other, so that they do not all try for the same items.
func (w *World) TakeOver(k *Work, free int) []Change {
	if !w.mayTakeOver() {
		return nil
	}
	waiting := w.claimableFailovers(k)
	if len(waiting) == 0 {
		return nil
	}
	c := w.claims("take over")
	before, others := w.place()
	start := before * len(waiting) / (others + 1)
	for n := range min(len(waiting), max(free, 0)) {
		f := waiting[(start+n)%len(waiting)]
		item := w.Item(f.Item)
		claim := Claim{Item: f.Item, Source: Failover, Failover: true, Tick: f.Tick}
		if claim.Tick.IsZero() {
			claim.Tick = claimedFor(&item)
		}
		claim.Last = lastFired(&item, claim.Tick)
		c.put(&item, claim, []coord.Op{
			coord.AtVersion(w.Job.FailoverItem(f.Item), f.Version),
			coord.DeleteTree(w.Job.FailoverItem(f.Item)),
			coord.CreateEphemeral(w.Job.Failover(f.Item), []byte(w.Self.ID)),
			coord.Put(w.Job.Failovering(f.Item), []byte(w.Self.ID)),
			w.createRunning(f.Item),
			w.writeFired(&item, claim),
		})
	}
	return c.list
}

// mayTakeOver reports whether this instance may run items again that others have left.
func (w *World) mayTakeOver() bool {
	in, ok := w.Instances[w.Self.ID]
	return w.Rules.Failover && w.Rules.Monitor && w.IsActive() && ok && w.isEligible(in)
}

// claimableFailovers lists the items that wait to be run again, and could be.
func (w *World) claimableFailovers(k *Work) []jobtree.FailoverItem {
	var list []jobtree.FailoverItem
	for _, f := range w.FailoverItems {
		item := w.Item(f.Item)
		if f.Item < w.Rules.Total && !item.Disabled && isIdle(k, f.Item, &item) && item.Failovering == nil {
			list = append(list, f)
		}
	}
	return list
}
