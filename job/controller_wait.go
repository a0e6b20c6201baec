package job

import (
	"time"
)

// wait returns when there may be something to do.
func (c *controller) wait() {
	var alarm <-chan time.Time
	if d, ok := c.alarm(); ok {
		timer := time.NewTimer(d)
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case <-c.changed:
	case <-c.wake:
	case <-alarm:
		c.reconcileIfDue()
	case <-c.session.Context().Done():
	case <-c.drained():
	}
}

// drained is the end of the time to drain, while that matters.
func (c *controller) drained() <-chan struct{} {
	if c.leaving == nil && !c.isShutdown() || c.stopping.Err() != nil {
		return nil // after its end, only the runs that return matter
	}
	return c.stopping.Done()
}

// alarm says when the controller is to look again by itself. But for ReconcileInterval
// no time in it is a poll: each is set only while something is unsettled.
func (c *controller) alarm() (time.Duration, bool) {
	now := c.now()
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if c.pausing() {
		return time.Until(c.retryAt), true
	}
	if s := c.settings.schedule; s != nil && c.leaving == nil {
		if t := s.Next(now); !t.IsZero() {
			at(t)
		}
	}
	if !c.lingering.IsZero() {
		at(c.lingering)
	}
	if !c.unseen.IsZero() {
		at(c.unseen.Add(settleAfter))
	}
	if !c.unsettled.IsZero() {
		at(c.unsettled.Add(settleAfter))
	}
	if !c.yielding.IsZero() {
		at(c.yielding.Add(yieldTime))
	}
	if d := c.settings.ReconcileInterval; d > 0 {
		at(c.reconciled.Add(d))
	}
	if !c.grace.IsZero() {
		at(c.grace)
	}
	if next.IsZero() {
		return 0, false
	}
	return max(next.Sub(now), 0), true
}

// reconcileIfDue makes the controller look at the whole tree although it saw no change.
func (c *controller) reconcileIfDue() {
	d := c.settings.ReconcileInterval
	if d <= 0 || c.now().Before(c.reconciled.Add(d)) {
		return
	}
	c.reconciled = c.now()
	c.stale = true
	c.sweeping = true
}

// poke wakes the controller, now or when it next waits.
func (c *controller) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
