package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// broadcastFault returns what keeps a broadcast job from running everywhere; nil if nothing does.
func (c *controller) broadcastFault(w *decide.World) error {
	if !w.Rules.Broadcast {
		return nil
	}
	if n := w.MayRun(); n > w.Rules.Total {
		return fmt.Errorf("job %s: %d instances are to run it, and it has %d items (%s): the others run nothing", c.job, n, w.Rules.Total, jobconf.KeyTotal)
	}
	if id := w.AnyJVM(); id != "" {
		return fmt.Errorf("job %s: the JVM member %s knows no broadcast jobs: if it leads, it deals all items", c.job, short(id))
	}
	if len(w.Pins) > 0 {
		return fmt.Errorf("job %s: items %s are pinned, which has no effect in a broadcast job", c.job, brief.Items(slices.Sorted(maps.Keys(w.Pins))))
	}
	return nil
}

// itemlessFault returns an error if this instance should have an item of a broadcast job that it
// may begin, and has had none for too long. Its ticks need not be late then: with misfire off they
// are skipped.
func (c *controller) itemlessFault(w *decide.World) error {
	if !c.track(&c.signs.itemless, w.LacksItem() && !c.isLeaving(), w.Moment, leaderPatience) {
		return nil
	}
	return fmt.Errorf("job %s: this instance has no item: the leader has not given it one, or all that have no instance run, are disabled, or wait for requests", c.job)
}
