package doctor

import (
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxCause bounds what is shown of the text of a fault or of a failed execution, in bytes.
const maxCause = 500

// checkFaults passes on what instances say themselves.
func (w *world) checkFaults(c *collector) {
	const most = 20
	for _, id := range sortedKeys(w.Faults) {
		n := w.Faults[id]
		if w.TooLarge[n.Path] > 0 {
			continue
		}
		if n.Owner == 0 {
			c.add(stale(w.name, id, n))
			continue
		}
		faults, err := jobtree.DecodeFaults(n.Value)
		if err != nil {
			c.add(unreadable(w.name, n, err))
			continue
		}
		for _, f := range faults[:min(len(faults), most)] {
			c.add(symptom{mark: f.Since.UnixMilli(), detail: brief.Text(f.Kind), Finding: Finding{
				Kind: Faulty, Severity: Warning, Job: w.name, Instance: id, Path: n.Path, Since: f.Since,
				Cause:  brief.Text(f.Kind) + ": " + brief.Cut(f.Cause, maxCause),
				Advice: adviceFor(f.Kind),
			}})
		}
	}
}

// adviceFor says what to do about a fault, by the name that its kind has in the tree.
func adviceFor(kind string) string {
	switch kind {
	case jobtype.FaultConfig.String():
		return "correct the configuration, or give the process what the configuration names"
	case jobtype.FaultClock.String():
		return "set the clock of its host"
	case jobtype.FaultStore.String():
		return "check the store, the network, and what the user of the process may do"
	case jobtype.FaultTree.String():
		return "look at the node or the instance that it names"
	case jobtype.FaultStarvation.String():
		return "mend what it names; if threads are busy, end what hangs, or raise their number"
	case jobtype.FaultStrategy.String():
		return "correct the sharding strategy"
	case jobtype.FaultCalendar.String():
		return "write the calendar again"
	}
	return "look at the log of the process"
}
