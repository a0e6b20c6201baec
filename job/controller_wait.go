package job

import "time"

// maxWait is how long a controller sleeps at most. Timers do not notice that the wall clock
// was set, or that the host was suspended. A tick may then be seen late, by maxWait at most;
// it still counts as on time (see slack).
const maxWait = 30 * time.Second

// wait waits until there may be something to do.
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

// wakeIn makes the controller look again after d, if nothing wakes it before. Whoever waits
// for something calls wakeIn in each pass, so there is no timer that could be left behind.
func (c *controller) wakeIn(d time.Duration) {
	if at := time.Now().Add(max(d, 0)); c.wakeAt.IsZero() || at.Before(c.wakeAt) {
		c.wakeAt = at
	}
}

// wakeForTick makes the controller look again when the next tick comes.
func (c *controller) wakeForTick() {
	if s := c.settings.rules.Ticks; s != nil && !c.isLeaving() {
		now := c.now()
		if next := s.Next(now); !next.IsZero() {
			c.wakeIn(next.Sub(now))
		}
	}
}

// drained returns a channel that closes when the time to drain is over. It returns nil when
// nothing waits for that.
func (c *controller) drained() <-chan struct{} {
	if !c.isLeaving() && !c.isShutdown() || c.stopping.Err() != nil {
		return nil // if the time is over, only handlers that return matter
	}
	return c.stopping.Done()
}

// poke wakes the controller. If it does not wait now, its next wait returns at once.
func (c *controller) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
