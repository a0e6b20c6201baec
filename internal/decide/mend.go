package decide

import "github.com/elasticjob-go/elasticjob/coord"

// IsUnrecorded reports whether the records of a run that goes on do not show that it runs
// here, although it is [Ours].
func (w *World) IsUnrecorded(r *Run) bool {
	return w.Rules.Monitor && !w.Item(r.Item).Running.Is(w.Self.ID)
}

// Mend puts the records of runs back that somebody has removed or changed. The items are
// still those runs': nobody has claimed them since. As long as a record is not there, the
// item may start elsewhere, and nobody would run it again if this instance ended.
func (w *World) Mend(runs []*Run) []Change {
	c := changes{step: "mend", heals: true, head: []coord.Op{w.ifMine()}}
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
