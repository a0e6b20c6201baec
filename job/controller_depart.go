package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// partingTime bounds what a scheduler says to the store when it goes.
const partingTime = 5 * time.Second

// leave takes this instance out, step by step: it begins nothing more and hands
// leadership over, waits for what runs until the time to drain is over, ends the
// contexts of the rest and gives them a moment to return, hands over what was not
// finished, and signs off.
func (c *controller) leave(w *world) (gone bool, err error) {
	// A store that refuses writes must not hold it up beyond its time.
	if commit := w.stepDown(); commit != nil && c.stopping.Err() == nil {
		c.commit(*commit)
		return false, nil // the next pass sees what became of it
	}
	if c.executing > 0 || len(c.queue) > 0 {
		if c.stopping.Err() == nil {
			return false, nil
		}
		left := c.graceLeft(w.now)
		if len(c.queue) > 0 || left == c.options.cancelGrace {
			c.requeue()
			c.cancelAll(ErrShutdown)
		}
		if c.executing > 0 && left > 0 {
			c.wakeIn(left)
			return false, nil
		}
	}
	return true, c.part()
}

// graceLeft is how much longer handlers may take to return whose contexts have ended. The
// first call begins that time.
func (c *controller) graceLeft(now time.Time) time.Duration {
	return max(c.options.cancelGrace-c.grace.hold(true, now), 0)
}

// requeue takes back what was claimed and has not begun.
func (c *controller) requeue() {
	for _, r := range c.queue {
		r.phase, r.cut, r.err = done, true, ErrShutdown
		r.group.open--
	}
	c.queue = nil
}

// unfinished reports whether a run is to be run again by somebody else: its context
// ended before it did, and it did not succeed all the same.
func (c *controller) unfinished(r *run) bool {
	return r.phase != done || r.cut && r.err != nil
}

// part says to the store what is left to be said. It has a time of its own for that:
// the caller's is over.
func (c *controller) part() error {
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), partingTime, fmt.Errorf("%w: not through within %v", coord.ErrUnavailable, partingTime))
	defer cancel()
	var still []int
	for _, r := range c.runs {
		if r.phase == executing {
			still = append(still, r.item)
		}
	}
	if err := c.partFrom(ctx); err != nil {
		c.couldNotPart(fmt.Errorf("job %s: hand over: %w", c.job, err))
	} else {
		c.log.Info("left", zap.String("instance", c.self.id), zap.Int("handlers that still run", len(still)))
	}
	if len(still) > 0 {
		return errors.Join(c.why(), fmt.Errorf("job %s: items %s still run; they did not return within %v of the end of their contexts", c.job, listItems(still), c.options.cancelGrace))
	}
	return c.why()
}

// couldNotPart notes that the store was not told everything.
func (c *controller) couldNotPart(err error) {
	c.setUntold(err)
	if c.signedOff || c.session.Context().Err() != nil {
		c.log.Warn("the registry was not told everything; others find out", zap.Error(err))
		return
	}
	c.log.Warn("could not remove this instance's nodes yet; that is tried until its session ends", zap.Error(err))
}

func (c *controller) setUntold(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.untold = err
}

// partFrom looks at the newest state and says what is left, until nothing has come in
// between: what was finished, what others have to run again, and then that this instance
// is gone. A part that the tree does not let be done is left to the end of the session.
func (c *controller) partFrom(ctx context.Context) error {
	const enough = 5
	pause := firstPause
	var last error
	for try := 0; ; try++ {
		if err := c.view.Sync(ctx); err != nil {
			return errors.Join(err, last)
		}
		c.look()
		w := c.world()
		done, err := c.partOnce(ctx, w, try >= enough)
		last = err
		again := err == nil || errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrUnknownOutcome)
		if done || !again || try > enough {
			return err
		}
		if try > 1 {
			if pause = min(2*pause, time.Second); !sleep(ctx, pause/2+rand.N(pause/2)) {
				return errors.Join(last, context.Cause(ctx))
			}
		}
	}
}

// partOnce says what is left by one state of the tree. It is done when this instance is
// gone. A conflict means to look again, unless this is the last time: then what is in the
// way is left.
func (c *controller) partOnce(ctx context.Context, w *world, lastTime bool) (done bool, err error) {
	var finished, left []*run
	for _, r := range c.runs {
		switch {
		case w.standing(r) != ours:
		case c.unfinished(r):
			left = append(left, r)
		default:
			finished = append(finished, r)
		}
	}
	commits := append(w.finish(finished), w.handOver(left)...)
	down := w.stepDown()
	if down != nil {
		commits = append(commits, *down)
	}
	for _, commit := range commits {
		a := send(ctx, c.reg, commit)
		if a.err == nil {
			for _, r := range a.commit.ends {
				c.ended[r.item] = r.token
				r.token = 0 // it has no record any more
			}
		}
		if a.err == nil && len(a.struck) > 0 {
			a.err = a.struck[0].err
		}
		if a.err != nil {
			err = errors.Join(err, a.err)
			if !lastTime {
				return false, err
			}
		}
	}
	if down != nil && err == nil {
		return false, nil // an election that came before that shows only now
	}
	if partErr := c.partLast(ctx, w); partErr != nil {
		return false, errors.Join(err, partErr)
	}
	return true, err
}

// sleep reports false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// partLast removes what this instance still has in the tree. If its registration may
// still be to come, it sees to it that there is a session's node, and that it stays.
func (c *controller) partLast(ctx context.Context, w *world) error {
	if _, came := w.Sessions[c.self.id]; !came && c.asked && !c.seen {
		_, err := c.reg.Commit(ctx, w.forestall().ops...)
		c.forestalled = c.forestalled || happened(err)
		c.signedOff = err == nil
		return err
	}
	_, err := c.reg.Commit(ctx, w.signOff(c.forestalled && !c.seen).ops...)
	if c.signedOff = err == nil; c.signedOff {
		c.tellUnobeyed(w)
	}
	return err
}

// abandon ends everything here because the job is gone. Nothing is written but the
// removal of what this session still has.
func (c *controller) abandon(w *world, cause error) (gone bool) {
	if c.leaving == nil || !errors.Is(c.leaving, cause) {
		c.log.Info("job removed, shutting down")
		c.leaving = cause
		c.requeue()
		c.cancelAll(cause)
	}
	if left := c.graceLeft(w.now); c.executing > 0 && left > 0 {
		c.wakeIn(left)
		return false
	}
	c.signOff(w)
	return true
}

// signOff removes what this session has in the tree, whatever that is.
func (c *controller) signOff(w *world) {
	ctx, cancel := context.WithTimeout(c.session.Context(), partingTime)
	defer cancel()
	_, err := c.reg.Commit(ctx, w.signOff(false).ops...)
	if c.signedOff = err == nil; err != nil {
		c.couldNotPart(fmt.Errorf("job %s: sign off: %w", c.job, err))
		return
	}
	c.tellUnobeyed(w)
}

// signOffLater goes on signing off where that has failed, until it succeeds or the session
// ends. The session is the process's, and may go on for long; as long as it does, an
// instance that is still in the tree is dealt items that it never runs.
func (c *controller) signOffLater() {
	if !c.asked || c.signedOff {
		return
	}
	ctx := c.session.Context()
	for pause := firstHold; sleep(ctx, pause/2+rand.N(pause/2)); pause = min(2*pause, lastHold) {
		err := c.signOffAnew(ctx)
		if c.signedOff {
			c.setUntold(nil)
			c.say(func() { c.log.Info("left", zap.String("instance", c.self.id)) })
			return
		}
		c.say(func() { c.log.Debug("not signed off yet", zap.Error(err)) })
	}
}

// signOffAnew signs off by what the store holds now. What ran here is recovered by others
// like after a crash.
func (c *controller) signOffAnew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	view, err := c.reg.View(ctx, string(c.job))
	if err != nil {
		return err
	}
	defer view.Close()
	if err := view.Sync(ctx); err != nil {
		return err
	}
	c.state = jobtree.Read(view.Snapshot(), c.job)
	return c.partLast(ctx, c.world())
}

// bail takes this instance out when its controller cannot go on: others take over what it
// had, once its handlers have had time to return.
func (c *controller) bail() {
	if c.session == nil || c.self.id == "" {
		return
	}
	c.requeue()
	c.cancelAll(ErrShutdown)
	c.awaitHandlers()
	if c.session.Context().Err() == nil && c.state != nil {
		c.signOff(c.world())
	}
}

func (c *controller) cancelAll(cause error) {
	for _, r := range c.runs {
		if r.phase == executing {
			r.cancel(cause)
		}
	}
}
