package engine

import (
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// rememberTime is how long an instance that has gone is remembered.
const rememberTime = 10 * time.Minute

// recentInstances are the instances that were there of late, and when each was seen last.
type recentInstances map[string]clocks.Moment

// note remembers which instances are there now.
func (r recentInstances) note(w *decide.World) {
	for id := range w.Instances {
		r[id] = w.Moment
	}
	maps.DeleteFunc(r, func(_ string, seen clocks.Moment) bool { return w.Moment.Sub(seen) > rememberTime })
}

// has reports whether an instance was there of late.
func (r recentInstances) has(id string) bool { return !r[id].IsZero() }

// takeTrigger turns the trigger that is addressed to this instance into a request.
func (c *controller) takeTrigger(w *decide.World) error {
	c.recent.note(w)
	change, err := w.TakeTrigger(c.newTaskID())
	if change != nil && c.commits.Commit(*change) && err != nil {
		c.log.Warn("trigger not obeyed", zap.Error(err))
	}
	return nil
}

// adoptTrigger turns, as leader, the trigger of an instance that has ended into a request. If the instance
// was not there of late, nobody knows how old its trigger is: that trigger is lost.
func (c *controller) adoptTrigger(w *decide.World) error {
	change, err := w.AdoptTrigger(c.recent.has, c.newTaskID())
	if change == nil || !c.commits.Commit(*change) {
		return nil
	}
	if err != nil {
		c.reporter.LostTrigger(err)
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
			c.log.Warn("request removed: it cannot be read", zap.String("request", brief.Text(r.ID)), zap.Error(r.Err))
		}
	}
	c.commits.All(changes)
	return nil
}

// claimRequested claims the items that a request waits for, or a backfill, over which ticks have precedence.
func (c *controller) claimRequested(w *decide.World, isBackfill bool) error {
	items := slices.DeleteFunc(w.Requested(c.work, isBackfill), c.heldForRebalance(w))
	if c.settings.Rules.Monitor {
		items = items[:c.pool.Threads.Reserve(min(len(items), max(c.claimable(), 0)))]
	}
	if len(items) > 0 {
		c.commits.All(w.ClaimRequested(items))
	}
	return nil
}

// addUnrecordedEnd remembers a run for a request that has ended, or was released, and that has no record, so that
// finish writes that.
func (c *controller) addUnrecordedEnd(r *run) {
	if r.Request != "" && !r.Recorded && r.Instance == c.self.ID {
		c.unrecordedEnds = append(c.unrecordedEnds, &r.Run)
	}
}
