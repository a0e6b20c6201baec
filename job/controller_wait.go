package job

import "time"

// maxWait is how long a controller sleeps at most. Timers do not hear of a wall clock that
// is set, nor of a host that was suspended; with this, a rare tick comes late by as much
// at most, and that is not held against it (see slack).
const maxWait = 30 * time.Second

// wait returns when there may be something to do.
func (c *controller) wait() {
	c.wakeForTick()
	c.wakeIn(maxWait)
	timer := time.NewTimer(time.Until(c.wakeAt))
	defer timer.Stop()
	_, suspended := c.session.State()
	select {
	case <-c.changed:
	case <-c.wake:
	case <-timer.C:
	case <-suspended:
	case <-c.session.Context().Done():
	case <-c.drained():
	}
}

// wakeIn makes the controller look again after a time, if nothing wakes it before.
// Whoever waits for something says so in each pass: there is no mark that could be left
// behind.
func (c *controller) wakeIn(d time.Duration) {
	if at := time.Now().Add(max(d, 0)); c.wakeAt.IsZero() || at.Before(c.wakeAt) {
		c.wakeAt = at
	}
}

// wakeForTick wakes the controller when the next tick comes.
func (c *controller) wakeForTick() {
	if s := c.settings.rules.Ticks; s != nil && !c.isLeaving() {
		now := c.now()
		if next := s.Next(now); !next.IsZero() {
			c.wakeIn(next.Sub(now))
		}
	}
}

// drained is the end of the time to drain, while that matters.
func (c *controller) drained() <-chan struct{} {
	if !c.isLeaving() && !c.isShutdown() || c.stopping.Err() != nil {
		return nil // after its end, only the runs that return matter
	}
	return c.stopping.Done()
}

// poke wakes the controller, now or when it next waits.
func (c *controller) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
