package engine

import (
	"runtime"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// maxWait is how long a controller sleeps at most. Timers do not notice that the wall clock
// was set, or that the host was suspended. A tick may then be seen late, by maxWait at most;
// it still counts as on time (see slack).
const maxWait = 30 * time.Second

// wait waits until there may be something to do.
func (c *controller) wait() {
	c.wakeIn(maxWait)
	at := clocks.Earlier(c.wholeAt, c.narrowAt)
	if next := c.nextTick(); !next.IsZero() {
		at = clocks.Earlier(at, c.moment().Add(max(next.Sub(c.now()), 0)))
	}
	// Never zero: in a bubble of testing/synctest, under the race detector, Go 1.26 may crash when
	// several goroutines select on timers that are over already.
	left := max(at.Sub(c.moment()), 1)
	if c.timer == nil {
		c.timer = time.NewTimer(left)
	} else {
		c.timer.Reset(left)
	}
	defer c.timer.Stop()
	_, suspended := c.session.State()
	select {
	case <-c.changed:
		return
	case <-c.wake:
		// Mostly a handler has returned. Others may wait for their tick, which came at the same
		// moment: to begin is more urgent than to finish.
		runtime.Gosched()
		return
	case <-c.timer.C:
		return
	case <-suspended:
	case <-c.session.Context().Done():
	case <-c.drained():
	}
	c.whole = true
}

// nextTick returns when there is something to do for a tick: when the next one comes, or when
// items may be claimed for it. It is zero if there is no tick to come.
func (c *controller) nextTick() time.Time {
	s := c.settings.rules.Ticks
	if c.turn.State != nil {
		s = c.turn.Ticks()
	}
	if s == nil || c.isLeaving() || c.turn.State != nil && c.turn.IsPaused() {
		return c.beginAt
	}
	if _, begins := c.turn.EarlyTick(); c.turn.Lead > 0 && !begins.IsZero() {
		return earlier(c.beginAt, begins)
	}
	next := earlier(c.beginAt, s.Next(c.now()))
	if c.settings.rules.Jitter > 0 && c.turn.State != nil {
		next = earlier(next, c.turn.NextStart())
	}
	return next
}

// earlier returns the earlier of two times. The zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// wakeIn makes the controller make a whole pass after d at the latest. Whoever waits for
// something calls wakeIn in each whole pass, so no old wait is left behind.
func (c *controller) wakeIn(d time.Duration) {
	c.wholeAt = clocks.Earlier(c.wholeAt, c.moment().Add(max(d, 0)))
}

// finishIn makes the controller finish runs after d, if nothing wakes it before.
func (c *controller) finishIn(d time.Duration) {
	c.narrowAt = clocks.Earlier(c.narrowAt, c.moment().Add(max(d, 0)))
}

// drained returns a channel that closes when the time to drain is over. It returns nil when
// nothing waits for that. A pass may not have seen the end of that time, because it came
// meanwhile: then another pass is needed.
func (c *controller) drained() <-chan struct{} {
	if !c.isLeaving() && !c.isShutdown() || c.knowsOver {
		return nil // if the time is over, only handlers that return matter
	}
	return c.stopping.Done()
}

// poke wakes the controller for a whole pass. If it does not wait now, its next wait returns
// at once.
func (c *controller) poke() {
	c.prodded.Store(true)
	c.nudge()
}

// nudge wakes the controller, which finds what has changed by itself.
func (c *controller) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
