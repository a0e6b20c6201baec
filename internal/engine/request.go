package engine

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// requested is what this instance remembers of requests.
type requested struct {
	// Runs for requests that have ended in a job without records, and of which the tree has not
	// been told. collect and giveBack add, follow and begin remove.
	unended []*decide.Run
	// The instances that were there of late, and when each was seen last. meetInstances
	// changes it.
	met map[string]clocks.Moment
}

// takeTrigger turns the trigger that is addressed to this instance into a request.
func (c *controller) takeTrigger(w *decide.World) error {
	c.meetInstances(w)
	change, err := w.TakeTrigger(c.newTaskID())
	if change != nil && c.commit(*change) && err != nil {
		c.log.Warn("trigger not obeyed", zap.Error(err))
	}
	return nil
}

// metTime is how long an instance that has gone is remembered.
const metTime = 10 * time.Minute

// meetInstances remembers which instances are there now.
func (c *controller) meetInstances(w *decide.World) {
	for id := range w.Instances {
		c.met[id] = w.Moment
	}
	for id, seen := range c.met {
		if w.Moment.Sub(seen) > metTime {
			delete(c.met, id)
		}
	}
}

// adoptTrigger turns, as leader, a trigger that an instance had not obeyed when it ended into a
// request. If the instance was not there of late, nobody knows how old its trigger is: that
// trigger is lost.
func (c *controller) adoptTrigger(w *decide.World) error {
	change, err := w.AdoptTrigger(func(id string) bool { return !c.met[id].IsZero() }, c.newTaskID())
	if change == nil || !c.commit(*change) {
		return nil
	}
	if err != nil {
		c.logLost(1, zap.Error(err))
		return nil
	}
	c.log.Info("trigger taken over: its instance ended before it obeyed")
	return nil
}

// endRequests brings requests to an end.
func (c *controller) endRequests(w *decide.World) error {
	changes := w.EndRequests()
	for _, r := range w.Requests {
		if r.Err != nil && len(changes) > 0 && w.IsCoordinator() {
			c.log.Warn("request removed: it cannot be read", zap.String("request", short(r.ID)), zap.Error(r.Err))
		}
	}
	c.commitAll(changes)
	return nil
}

// beginRequested claims the items that a request waits for.
func (c *controller) beginRequested(w *decide.World) error {
	return c.beginFor(w, false)
}

// beginBackfill is beginRequested for requests that leave ticks the precedence.
func (c *controller) beginBackfill(w *decide.World) error {
	return c.beginFor(w, true)
}

func (c *controller) beginFor(w *decide.World, isBackfill bool) error {
	items := slices.DeleteFunc(w.Requested(c.work, isBackfill), c.yielding(w))
	if c.settings.rules.Monitor {
		items = items[:c.pool.Threads.Reserve(min(len(items), max(c.claimable(), 0)))]
	}
	if len(items) > 0 {
		c.commitAll(w.BeginRequested(items))
	}
	return nil
}

// mustTell notes that the tree has to be told of the end of a run that has no record, or that
// its turn is given back.
func (c *controller) mustTell(r *run) {
	if r.Request != "" && !r.Recorded && r.Instance == c.self.ID {
		c.unended = append(c.unended, &r.Run)
	}
}

// endUnended tells the tree how runs for requests have ended, in a job without records.
func (c *controller) endUnended(w *decide.World) {
	if len(c.unended) > 0 {
		c.commitAll(w.EndUnmonitored(c.unended))
	}
}
