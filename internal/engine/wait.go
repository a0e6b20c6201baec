package engine

import (
	"runtime"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// maxWait is how long a controller sleeps at most. Timers do not notice that the wall clock was set, or that the
// host was suspended. A tick may then be seen late, by maxWait at most; it still counts as on time (see slack).
const maxWait = 30 * time.Second

// wait sleeps until a pass may be needed: the view has changed, a goroutine calls wakeUp, a tick or a time that
// a step has asked for has come, the session is suspended or has ended, or the time to drain is over.
func (c *controller) wait() {
	c.wakeIn(maxWait)
	at := clocks.Earlier(c.fullAt, c.partialAt)
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
	case <-c.wake:
		runtime.Gosched() // mostly a handler has returned: others may have to begin, which is more urgent
	case <-c.timer.C:
		c.startDue()
	case <-suspended:
		c.full = true
	case <-c.session.Context().Done():
		c.full = true
	case <-c.drained():
		c.full = true
	}
}

// startDue calls the handlers of runs whose tick has come, if the pass that follows has nothing new to see before
// that. Jobs of a process often have the same tick: so all their handlers begin before the first of their passes.
func (c *controller) startDue() {
	if c.nextStartAt.IsZero() || c.now().Before(c.nextStartAt) || c.session.Context().Err() != nil {
		return
	}
	select {
	case <-c.changed:
	default:
		c.dispatch()
		runtime.Gosched()
	}
}

// nextTick returns when there is something to do for a tick: when the next one comes, or when
// items may be claimed for it. It is zero if there is no tick to come.
func (c *controller) nextTick() time.Time {
	s := c.settings.Rules.Ticks
	if c.current.State != nil {
		s = c.current.Ticks()
	}
	if s == nil || c.isLeaving() || c.current.State != nil && c.current.IsPaused() {
		return c.nextStartAt
	}
	if _, begins := c.current.EarlyTick(); !begins.IsZero() && !c.allClaimedFor.After(c.now()) {
		return earlier(c.nextStartAt, begins)
	}
	next := earlier(c.nextStartAt, s.Next(c.now()))
	if c.settings.Rules.Jitter > 0 && c.current.State != nil {
		next = earlier(next, c.current.NextStart())
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

// wakeIn makes the controller make a full pass after d at the latest. A step that waits for
// something calls wakeIn in each full pass, so no old wait is left behind.
func (c *controller) wakeIn(d time.Duration) {
	c.fullAt = clocks.Earlier(c.fullAt, c.moment().Add(max(d, 0)))
}

// partialPassIn makes the controller make a pass after d at the latest, which may be a partial one.
func (c *controller) partialPassIn(d time.Duration) {
	c.partialAt = clocks.Earlier(c.partialAt, c.moment().Add(max(d, 0)))
}

// drained returns a channel that closes when the time to drain is over; nil if the wait need not end
// then, because this instance does not leave, or the last full pass has seen it.
func (c *controller) drained() <-chan struct{} {
	if !c.isLeaving() && !c.isShutdown() || c.sawDrainEnd {
		return nil
	}
	return c.drainTime.Done()
}

// requestFullPass makes the next pass a full one, and wakes the controller. Any goroutine may call it.
func (c *controller) requestFullPass() {
	c.fullRequested.Store(true)
	c.wakeUp()
}

// wakeUp ends the controller's wait. If it does not wait now, its next wait returns at once.
func (c *controller) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
