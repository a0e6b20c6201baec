package decide

import "github.com/elasticjob-go/elasticjob/coord"

// LacksRunningNode reports whether running does not name this instance, although the run goes on and its
// record is [Ours].
func (w *World) LacksRunningNode(r *Run) bool {
	return w.Rules.Monitor && !w.Item(r.Item).Running.Is(w.Self.ID)
}

// Restore writes the running nodes of runs again that an external writer has removed or changed, if
// nobody has claimed the items since. While such a node is missing, the item may start
// elsewhere, and nobody would run it again if this instance ended.
func (w *World) Restore(runs []*Run) []Change {
	c := changes{w: w, step: "restore", isRepair: true, head: (*World).sessionHead}
	for _, r := range runs {
		item := w.Item(r.Item)
		if item.Running == nil {
			c.add(r.Item, w.ifUnclaimed(r.Item, &item), w.createRunning(r.Item))
			continue
		}
		c.add(r.Item, w.ifUnclaimed(r.Item, &item), coord.SetAt(w.Job.Running(r.Item), []byte(w.Self.ID), item.Running.Version))
	}
	return c.list
}
