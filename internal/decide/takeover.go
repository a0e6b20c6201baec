package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TakeOver claims items that wait to be run again, as many as there are free threads, with
// several in a commit. (ElasticJob takes them one at a time, B-09.) This instance need not
// own these items, and its own items run beside them. (In ElasticJob its own items miss that
// tick, B-08.) Each instance begins at another place of the list, so that not all try for the
// same items.
func (w *World) TakeOver(k *Work, free int) []Change {
	if !w.mayTakeOver() {
		return nil
	}
	waiting := w.claimableFailovers(k)
	if len(waiting) == 0 {
		return nil
	}
	c := w.claims("take over")
	c.urgency = coord.Soonest
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

// mayTakeOver reports whether this instance may take over items.
func (w *World) mayTakeOver() bool {
	in, ok := w.Instances[w.Self.ID]
	return w.Rules.Failover && w.Rules.Monitor && w.IsActive() && ok && w.isEligible(in)
}

// claimableFailovers lists the items that wait to be run again, and can be: they are enabled
// and idle.
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
