package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
)

// returnFault returns an error that names the items whose handlers have not returned within the grace time after their
// time-out or a kill. The log says it once of each execution: the item may have no other tick for a day.
func (d *Diagnosis) returnFault(p Pass, runs map[int]Run) error {
	logged := d.unreturned
	d.unreturned = nil
	var items []int
	for _, i := range slices.Sorted(maps.Keys(runs)) {
		r := runs[i]
		end := r.Signals.ContextEnd()
		if r.Phase != exec.Executing || end.Cause == nil {
			continue
		}
		if lasted := p.World.Moment.Sub(end.At.Mono); lasted < d.config.Grace {
			d.config.WakeIn(d.config.Grace - lasted)
			continue
		}
		items = append(items, i)
		if d.unreturned == nil {
			d.unreturned = map[*exec.Signals]bool{}
		}
		d.unreturned[r.Signals] = true
		if !logged[r.Signals] {
			d.config.Faults.Log.Warn("a handler does not return although its context has ended", zap.Int("item", i), zap.String("task", r.TaskID), zap.NamedError("cause", end.Cause))
		}
	}
	if len(items) == 0 {
		return nil
	}
	end := runs[items[0]].Signals.ContextEnd()
	return fmt.Errorf("job %s: the handlers of items %s do not return although their contexts have ended; that of item %d at %s: %w", p.World.Job, brief.Items(items), items[0], p.dateTime(end.At.Wall), end.Cause)
}
