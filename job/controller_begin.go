package job

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// yieldTime bounds how long a JVM leader that deals the items holds up our fires.
const yieldTime = 30 * time.Second

// obey takes a trigger, and begins the items that triggers wait for.
func (c *controller) obey(w *world) {
	if commit, trigger := w.obey(); commit != nil && c.commit(*commit) {
		c.take(w, trigger)
	}
	for _, i := range slices.Sorted(maps.Keys(c.triggers)) {
		c.yield(w, i)
	}
	if !c.settings.monitor {
		c.triggerUnmonitored(w)
		return
	}
	c.commitAll(w.manually(c.triggers))
}

// take remembers the items of a request until they are idle.
func (c *controller) take(w *world, trigger jobtree.Trigger) {
	request := trigger.Request
	switch {
	case trigger.Err != nil:
		c.log.Warn("trigger not obeyed: it cannot be read", zap.Error(trigger.Err))
	case !w.active():
		c.log.Warn("trigger not obeyed: the server is disabled", zap.String("request", request.ID))
	default:
		for _, i := range w.requested(request) {
			if _, waiting := c.triggers[i]; waiting {
				c.log.Info("trigger joins one that waits", zap.Int("item", i), zap.String("request", request.ID))
			}
			c.triggers[i] = manual{parameter: request.Parameter}
		}
	}
}

// yield gives up a trigger that waits for an item which this instance does not own: its
// owner gets it.
func (c *controller) yield(w *world, i int) {
	item := w.Item(i)
	if i >= c.settings.ShardingTotalCount || item.Disabled {
		c.log.Warn("trigger not obeyed: the item was disabled or is no more", zap.Int("item", i))
		delete(c.triggers, i)
		return
	}
	if item.Owner.Is(c.self.id) {
		return
	}
	commit, err := w.passOn(i, c.triggers[i])
	if err != nil {
		c.log.Error("trigger not passed on", zap.Int("item", i), zap.Error(err))
		return
	}
	if commit != nil && c.commit(*commit) {
		delete(c.triggers, i)
	}
}

// fire begins what is due.
func (c *controller) fire(w *world) {
	if !c.settings.monitor {
		c.fireUnmonitored(w)
		return
	}
	if c.yields(w) {
		return
	}
	commits := w.fire()
	if len(commits) == 0 {
		return
	}
	if c.clockAllows(w.lastTick()) {
		c.commitAll(commits)
	}
}

// yields reports whether a JVM leader is dealing the items: then what is assigned now
// is about to change. Our own leaders need no such time; they have a session node,
// which a JVM has not.
func (c *controller) yields(w *world) bool {
	deals := w.Leader != nil && (w.Necessary || w.Processing)
	if deals {
		_, ours := w.Sessions[w.Leader.ID]
		deals = !ours
	}
	if !deals {
		c.yielding = time.Time{}
		return false
	}
	if c.yielding.IsZero() {
		c.yielding = w.now
	}
	return w.now.Sub(c.yielding) < yieldTime
}

// clockAllows reports whether a tick may run by the clocks, if they are looked at. It
// asks once for each tick.
func (c *controller) clockAllows(tick time.Time) bool {
	if c.settings.MaxTimeDiff <= 0 {
		c.fault(faultClock, nil)
		return true
	}
	if tick.Equal(c.skipped) {
		return false
	}
	err := c.checkClock()
	c.fault(faultClock, err)
	if err != nil {
		c.skipped = tick
	}
	return err == nil
}

// checkClock compares the local clock with the store's.
func (c *controller) checkClock() error {
	before := c.now()
	store, err := c.reg.Now(c.session.Context(), c.job.SystemTime())
	if err != nil {
		return fmt.Errorf("job %s: the tick does not run, because the store's clock cannot be compared: %w", c.job, err)
	}
	// The answer is from between the request and now, so the nearer end counts.
	diff := max(before.Sub(store), store.Sub(c.now()))
	if diff > c.settings.MaxTimeDiff {
		return fmt.Errorf("job %s: the tick does not run: %w: %v, at most %v are allowed", c.job, ErrClock, diff.Round(time.Second), c.settings.MaxTimeDiff)
	}
	return nil
}
