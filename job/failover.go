package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// takeOver claims items that wait to be run again: as many as have a free thread, several
// in a commit (B-09: ElasticJob takes one at a time). They are executions of their own
// beside those of this instance's items (B-08: there they hold those up), and whoever
// takes one need not own it. Instances begin at places of the list that are far from each
// other, so that they do not all try for the same items.
func (w *world) takeOver() []commit {
	if !w.mayTakeOver() {
		return nil
	}
	claims := w.claims("take over")
	waiting := w.claimableFailovers()
	if len(waiting) == 0 {
		return nil
	}
	before, others := w.place()
	start := before * len(waiting) / (others + 1)
	for n := range min(len(waiting), max(w.free, 0)) {
		f := waiting[(start+n)%len(waiting)]
		i, item := f.Item, w.Item(f.Item)
		r := &run{item: i, tick: f.Tick, source: SourceFailover, failover: true}
		if r.tick.IsZero() {
			r.tick = claimed(item)
		}
		r.last = r.tick
		if item.Fired != nil {
			r.last = item.Fired.Tick
		}
		claims.put(item, r, []coord.Op{
			coord.AtVersion(w.job.FailoverItem(i), f.Version),
			coord.DeleteTree(w.job.FailoverItem(i)),
			coord.CreateEphemeral(w.job.Failover(i), []byte(w.self.id)),
			coord.Put(w.job.Failovering(i), []byte(w.self.id)),
			w.begin(i),
			w.fired(i, item, r.last, r.tick),
		})
	}
	return claims.commits
}

// mayTakeOver reports whether this instance may run items again that others have left.
func (w *world) mayTakeOver() bool {
	in, ok := w.Instances[w.self.id]
	return w.settings.Failover && w.settings.monitor && w.active() && ok && w.eligible(in)
}

// claimableFailovers lists the items that wait to be run again, and could be.
func (w *world) claimableFailovers() []jobtree.FailoverItem {
	var list []jobtree.FailoverItem
	for _, f := range w.FailoverItems {
		item := w.Item(f.Item)
		if f.Item < w.settings.ShardingTotalCount && !item.Disabled && item.Running == nil && item.Failovering == nil && w.runs[f.Item] == nil {
			list = append(list, f)
		}
	}
	return list
}
