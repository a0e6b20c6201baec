package decide

import "github.com/elasticjob-go/elasticjob/coord"

// Unmark removes the marks of failovers that this instance does not run any more: somebody has removed the
// record of a run, and somebody else has claimed the item since, so the end of the run removed nothing.
// Nobody else removes them while this instance is there, and a JVM member that owns the item does not run
// it as long. Beside JVM members it also removes {f} of an item that runs here after a failover: each of
// them adds what it takes for cut short, in several commits.
func (w *World) Unmark(k *Work) []Change {
	c := changes{w: w, step: "unmark", isRepair: true, head: (*World).sessionHead}
	for i := range w.itemsToLookAt(len(w.Items)) {
		item := &w.Items[i]
		if r := k.Runs[i]; r != nil && r.Failover {
			if w.IsMixed() && w.awaitsFailover(i) && w.RecordOwner(r) == Ours {
				c.add(i, w.ifUnclaimed(i, item), coord.DeleteTree(w.Job.FailoverItem(i)))
			}
			continue
		}
		if item.Failovering.Is(w.Self.ID) && !item.Running.Is(w.Self.ID) {
			c.add(i, w.unmark(i)...)
		}
	}
	return c.list
}

// unmark returns the operations that remove the marks of an item, if they are still those of the snapshot, and this
// instance does not run it.
func (w *World) unmark(i int) []coord.Op {
	item := &w.Items[i]
	ops := []coord.Op{coord.AtVersion(w.Job.Failovering(i), item.Failovering.Version)}
	if item.Running == nil {
		ops = append(ops, coord.Absent(w.Job.Running(i)))
	} else {
		ops = append(ops, coord.AtVersion(w.Job.Running(i), item.Running.Version))
	}
	if item.Fired != nil {
		ops = append(ops, w.ifUnclaimed(i, item))
	}
	ops = append(ops, coord.DeleteTree(w.Job.Failovering(i)))
	if item.Failover.Is(w.Self.ID) {
		ops = append(ops, coord.DeleteTree(w.Job.Failover(i)))
	}
	return ops
}
