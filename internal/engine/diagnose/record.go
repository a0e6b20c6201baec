package diagnose

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// recordEvery is the shortest time between two writes of faults/{id}.
const recordEvery = 5 * time.Second

// Record writes the faults of this instance into faults/{id}, for operators, and removes the
// node when there are none.
func (d *Diagnosis) Record(w *decide.World) {
	var records []jobtree.FaultRecord
	text := ""
	for f := range d.config.Faults.Holding() {
		r := jobtree.FaultRecord{Kind: f.Kind.String(), Cause: f.Err.Error(), Since: f.Since}
		records = append(records, r)
		text += r.Kind + "\x00" + r.Cause + "\x00"
	}
	node, isThere := w.Faults[w.Self.ID]
	if text == d.recorded && isThere == (text != "") {
		return
	}
	if waited := w.Moment.Sub(d.recordedAt); waited < recordEvery && text != "" {
		d.config.WakeIn(recordEvery - waited)
		return
	}
	path := w.Job.Faults(w.Self.ID)
	write := coord.DeleteTree(path)
	if text != "" {
		document := jobtree.EncodeFaults(records)
		if write = coord.CreateEphemeral(path, document); isThere {
			write = coord.SetAt(path, document, node.Version)
		}
	}
	if d.config.Commits.Commit(decide.Change{Step: "report", Ops: []coord.Op{coord.Owned(w.Job.Session(w.Self.ID)), write}}) {
		d.recorded, d.recordedAt = text, w.Moment
	}
}
