package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
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
		if c.grace.IsZero() {
			c.grace = c.now().Add(c.options.cancelGrace)
			c.requeue()
			c.cancelAll(ErrShutdown)
		}
		if c.executing > 0 && c.now().Before(c.grace) {
			return false, nil
		}
	}
	return true, c.part()
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
	ctx, cancel := context.WithTimeout(c.session.Context(), partingTime)
	defer cancel()
	var still []int
	for _, r := range c.runs {
		if r.phase == executing {
			still = append(still, r.item)
		}
	}
	err := c.partFrom(ctx)
	if err != nil {
		// What could not be said ends with the session.
		c.log.Warn("left without a word", zap.Error(err))
		err = fmt.Errorf("job %s: hand over: %w", c.job, err)
	}
	if len(still) > 0 {
		err = errors.Join(err, fmt.Errorf("job %s: items %v still run; they did not return within %v of the end of their contexts", c.job, still, c.options.cancelGrace))
	}
	return errors.Join(c.why(), err)
}

// partFrom looks at the newest state and says what is left, until nothing has come in
// between: what was finished, what others have to run again, and then that this instance
// is gone.
func (c *controller) partFrom(ctx context.Context) error {
	for {
		if err := c.view.Sync(ctx); err != nil {
			return err
		}
		c.look()
		w := c.world()
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
		var err error
		for _, commit := range commits {
			if _, err = c.reg.Commit(ctx, commit.ops...); err != nil {
				refuse(commit.ends)
				break
			}
			for _, r := range commit.ends {
				c.ended[r.item] = r.token
				r.token = 0 // it has no record any more
			}
		}
		if err == nil && down != nil {
			continue // an election that came before that shows only now
		}
		if err == nil {
			err = c.partLast(ctx, w)
		}
		if err == nil || !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// partLast removes what this instance still has in the tree. If its registration may
// still be to come, it sees to it that there is a session's node, and that it stays.
func (c *controller) partLast(ctx context.Context, w *world) error {
	if _, came := w.Sessions[c.self.id]; !came && c.asked && !c.seen {
		_, err := c.reg.Commit(ctx, w.forestall().ops...)
		c.forestalled = c.forestalled || happened(err)
		return err
	}
	_, err := c.reg.Commit(ctx, w.signOff(c.forestalled && !c.seen).ops...)
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
		c.grace = c.now().Add(c.options.cancelGrace)
	}
	if c.executing > 0 && c.now().Before(c.grace) {
		return false
	}
	ctx, cancel := context.WithTimeout(c.session.Context(), partingTime)
	defer cancel()
	if _, err := c.reg.Commit(ctx, w.signOff(false).ops...); err != nil {
		c.log.Warn("left without a word", zap.Error(err))
	}
	return true
}

func (c *controller) cancelAll(cause error) {
	for _, r := range c.runs {
		if r.phase == executing {
			r.cancel(cause)
		}
	}
}
