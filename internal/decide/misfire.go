package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// MarkMisfire sets the misfire mark of items of this instance that run although their next tick has come.
// A tick that only waits for the end of a backfill is not missed. An item that a JVM member runs gets no
// mark, whoever owns it now: the JVM would take the mark for one of its own, and run all items of its fire
// once more. The owner finds that tick by fired.
func (w *World) MarkMisfire(k *Work) []Change {
	if w.LastTick().IsZero() || !w.Rules.Monitor || !w.Rules.Misfire || w.Rules.SkipOverlap {
		return nil
	}
	c := changes{w: w, step: "mark misfire", head: (*World).sessionHead}
	for i := range w.itemsToLookAt(w.itemCount()) {
		item, tick := &w.Items[i], w.LastTickOf(i)
		if !w.owns(item) || isIdle(k, i, item) || k.hasBegun(i, tick) || k.isWaitingOnTime(i, tick) || w.isFromDroppedSchedule(tick) || w.judge(i, item, tick) == notDue {
			continue
		}
		if w.lacksMisfireMark(k.Runs[i], item, tick) {
			c.add(i,
				coord.AtVersion(w.Job.Fired(i), item.Fired.Version),
				coord.Exists(w.Job.Running(i)), // the run has not ended meanwhile
				coord.Put(w.Job.Misfire(i), nil),
			).Misfires = k.Runs[i]
		}
	}
	return c.list
}

// lacksMisfireMark reports whether an item runs whose tick is due, and has no misfire mark for it yet. r
// is its run in this process; nil if there is none.
func (w *World) lacksMisfireMark(r *Run, item *jobtree.Item, tick time.Time) bool {
	if item.Misfire || item.Running == nil || w.isRunByJVM(item) {
		return false
	}
	return r == nil || !r.Marked && tick.After(r.Last)
}
