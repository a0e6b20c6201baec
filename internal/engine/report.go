package engine

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// toldFaults is what this instance has written into faults/{id} last.
type toldFaults struct {
	when clocks.Moment
	text string
}

// tellEvery is the shortest time between two writes of faults/{id}.
const tellEvery = 5 * time.Second

// report writes the faults of this instance into faults/{id}, for operators, and removes the
// node when there are none.
func (c *controller) report(w *decide.World) error {
	var records []jobtree.FaultRecord
	text := ""
	for f := range c.holding() {
		r := jobtree.FaultRecord{Kind: f.Kind.String(), Cause: f.Err.Error(), Since: f.Since}
		records = append(records, r)
		text += r.Kind + "\x00" + r.Cause + "\x00"
	}
	node, isThere := w.Faults[c.self.ID]
	if text == c.told.text && isThere == (text != "") {
		return nil
	}
	if waited := w.Moment.Sub(c.told.when); waited < tellEvery && text != "" {
		c.wakeIn(tellEvery - waited)
		return nil
	}
	path := c.job.Faults(c.self.ID)
	write := coord.DeleteTree(path)
	if text != "" {
		document, err := jobtree.EncodeFaults(records)
		if err != nil {
			return err
		}
		if write = coord.CreateEphemeral(path, document); isThere {
			write = coord.SetAt(path, document, node.Version)
		}
	}
	if c.commit(decide.Change{Step: "report", Ops: []coord.Op{coord.Owned(c.job.Session(c.self.ID)), write}}) {
		c.told = toldFaults{when: w.Moment, text: text}
	}
	return nil
}
