package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
)

// takeOver claims items that wait to be run again: as many as have a free slot, in
// the order of their numbers, several in a commit (B-09). They are executions of
// their own beside those of this instance's items (B-08), and whoever takes one need
// not own it.
func (w *world) takeOver() []commit {
	in, ok := w.Instances[w.self.id]
	if !w.settings.Failover || !w.settings.monitor || !w.active() || !ok || !w.eligible(in) {
		return nil
	}
	claims := claimer{world: w, step: "take over"}
	free := w.free
	for _, waiting := range w.FailoverItems {
		if free <= 0 {
			break
		}
		i, item := waiting.Item, w.Item(waiting.Item)
		if i >= w.settings.ShardingTotalCount || item.Disabled || item.Running != nil || item.Failovering != nil || w.runs[i] != nil {
			continue
		}
		r := &run{item: i, tick: waiting.Tick, source: Failover, failover: true}
		if r.tick.IsZero() {
			r.tick = claimed(item)
		}
		r.last = r.tick
		if item.Fired != nil {
			r.last = item.Fired.Tick
		}
		claims.put(r, []coord.Op{
			coord.AtVersion(w.job.FailoverItem(i), waiting.Version),
			coord.Delete(w.job.FailoverItem(i)),
			coord.CreateEphemeral(w.job.Failover(i), []byte(w.self.id)),
			coord.Put(w.job.Failovering(i), []byte(w.self.id)),
			w.begin(i),
			w.fired(i, item, r.last, r.tick),
		})
		free--
	}
	return claims.commits
}
