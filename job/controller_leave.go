package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// departure is the way out. Whatever makes this instance leave sets its cause; the step
// leave moves it on.
type departure struct {
	stage    stage
	cause    error // why it leaves
	farewell error // what loop returns in the end
}

// stage is how far an instance is on its way out.
//
//	staying ──► draining ──► cancelling ──► gone
//	               └────────────────────────►
type stage int

const (
	staying stage = iota
	// draining: it begins nothing more. What runs may come to its end.
	draining
	// cancelling: the contexts of handlers have ended, and they have a moment to return.
	cancelling
	// gone: nothing is left to be done here.
	gone
)

// partingTime bounds what a scheduler says to the store when it goes.
const partingTime = 5 * time.Second

func (c *controller) isLeaving() bool { return c.stage != staying }

// beginToLeave begins an orderly shutdown, if nothing else has made this instance leave.
func (c *controller) beginToLeave() {
	if c.isLeaving() {
		return
	}
	c.stage, c.cause = draining, ErrShutdown
	c.log.Info("leaving", zap.Int("running", len(c.runs)))
}

// goes ends the loop, with an error beside why this instance leaves.
func (c *controller) goes(err error) {
	c.stage, c.farewell = gone, c.why()
	if err != nil {
		c.farewell = errors.Join(c.farewell, err)
	}
}

// why is the reason to leave: nil after a Shutdown that was asked for.
func (c *controller) why() error {
	if c.cause == nil || errors.Is(c.cause, ErrShutdown) {
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, c.cause)
}

// leave takes this instance out, stage by stage: it hands leadership over, waits for what
// runs until the time to drain is over, ends the contexts of the rest and gives them a
// moment to return, hands over what was not finished, and signs off.
func (c *controller) leave(w *decide.World) error {
	// A store that refuses writes must not hold it up beyond its time.
	if change := w.StepDown(); change != nil && c.stopping.Err() == nil {
		c.commit(*change)
		return nil // the next pass sees what became of it
	}
	if c.executing() > 0 || len(c.queue) > 0 {
		if c.stopping.Err() == nil {
			return nil
		}
		if c.stage == draining || len(c.queue) > 0 {
			c.cancelRuns(ErrShutdown)
		}
		if left := c.giveGrace(w.Now); c.executing() > 0 && left > 0 {
			c.wakeIn(left)
			return nil
		}
	}
	c.part()
	return nil
}

// cancelRuns takes back what has not begun, and ends the contexts of what has.
func (c *controller) cancelRuns(cause error) {
	c.stage = cancelling
	c.unqueue()
	c.cancelAll(cause)
}

// abandon leaves because the job is gone. Nothing is written but the removal of what this
// session still has.
func (c *controller) abandon(w *decide.World) {
	if !errors.Is(c.cause, ErrJobRemoved) {
		c.log.Info("job removed, shutting down")
		c.cause = ErrJobRemoved
		c.cancelRuns(ErrJobRemoved)
	}
	if left := c.giveGrace(w.Now); c.executing() > 0 && left > 0 {
		c.wakeIn(left)
		return
	}
	c.signOff(w)
	c.goes(nil)
}

// isUnfinished reports whether a run is to be run again by somebody else: its context ended
// before it did, and it did not succeed all the same.
func (r *run) isUnfinished() bool {
	return r.phase != done || r.ending.cut && r.ending.err != nil
}

// part says to the store what is left to be said. It has a time of its own for that: the
// caller's is over.
func (c *controller) part() {
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), partingTime, fmt.Errorf("%w: not through within %v", coord.ErrUnavailable, partingTime))
	defer cancel()
	var still []int
	for _, r := range c.runs {
		if r.phase == executing {
			still = append(still, r.Item)
		}
	}
	if err := c.tellAll(ctx); err != nil {
		c.couldNotPart(fmt.Errorf("job %s: hand over: %w", c.job, err))
	} else {
		c.log.Info("left", zap.String("instance", c.self.ID), zap.Int("handlers that still run", len(still)))
	}
	var err error
	if len(still) > 0 {
		err = fmt.Errorf("job %s: items %s still run; they did not return within %v of the end of their contexts", c.job, listItems(still), c.options.cancelGrace)
	}
	c.goes(err)
}

// couldNotPart notes that the store was not told everything.
func (c *controller) couldNotPart(err error) {
	c.setUntold(err)
	if c.registration == signedOff || c.session.Context().Err() != nil {
		c.log.Warn("could not tell the registry everything; other instances find out", zap.Error(err))
		return
	}
	c.log.Warn("could not remove this instance's nodes yet; that is tried until its session ends", zap.Error(err))
}

func (c *controller) setUntold(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.untold = err
}

// partingTries is how often what is left is looked at before what is in the way is left
// to the end of the session.
const partingTries = 7

// tellAll looks at the newest state and says what is left, until nothing has come in
// between: what was finished, what others have to run again, and then that this instance is
// gone.
func (c *controller) tellAll(ctx context.Context) (err error) {
	pause := firstPause
	for try := range partingTries {
		if try > 2 {
			if pause = min(2*pause, time.Second); !sleep(ctx, pause/2+rand.N(pause/2)) {
				return errors.Join(err, context.Cause(ctx))
			}
		}
		if syncErr := c.view.Sync(ctx); syncErr != nil {
			return errors.Join(syncErr, err)
		}
		c.look()
		isThrough, tellErr := c.tellOnce(ctx, c.world(), try >= partingTries-2)
		if isThrough || !mayTellAgain(tellErr) {
			return tellErr
		}
		err = tellErr
	}
	return errors.Join(err, fmt.Errorf("%w: something came in between %d times", coord.ErrUnavailable, partingTries))
}

// mayTellAgain reports whether it helps to look again: something came in between, or the
// answer was lost.
func mayTellAgain(err error) bool {
	return err == nil || errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrUnknownOutcome)
}

// tellOnce says what is left by one state of the tree. It is through when this instance is
// gone. A conflict means to look again, unless this is the last time: then what is in the
// way is left.
func (c *controller) tellOnce(ctx context.Context, w *decide.World, isLast bool) (isThrough bool, err error) {
	changes := c.lastWords(w)
	down := w.StepDown()
	if down != nil {
		changes = append(changes, *down)
	}
	for _, change := range changes {
		if tellErr := c.tellChange(ctx, change); tellErr != nil {
			err = errors.Join(err, tellErr)
			if !isLast {
				return false, err
			}
		}
	}
	if down != nil && err == nil {
		return false, nil // an election that came before that shows only now
	}
	if goneErr := c.removeNodes(ctx, w); goneErr != nil {
		return false, errors.Join(err, goneErr)
	}
	return true, err
}

// lastWords are the ends of runs: those that are finished, and those to be run again.
func (c *controller) lastWords(w *decide.World) []decide.Change {
	var finished, left []*decide.Run
	for _, r := range c.runs {
		switch {
		case w.Standing(&r.Run) != decide.Ours:
		case r.isUnfinished():
			left = append(left, &r.Run)
		default:
			finished = append(finished, &r.Run)
		}
	}
	return append(c.finishes(w, finished), w.HandOver(left)...)
}

func (c *controller) tellChange(ctx context.Context, change decide.Change) error {
	a := send(ctx, c.reg, change)
	if a.err != nil {
		return a.err
	}
	for _, p := range a.change.Parts {
		if p.Ends != nil {
			c.work.Ended[p.Item] = p.Ends.Token
			p.Ends.Recorded = false // though its handler may still run
		}
	}
	if len(a.struck) > 0 {
		return a.struck[0].err
	}
	return nil
}

// removeNodes removes what this instance still has in the tree. If its registration may
// still be to come, it sees to it that there is a session's node, and that it stays.
func (c *controller) removeNodes(ctx context.Context, w *decide.World) error {
	_, came := w.Sessions[c.self.ID]
	mayCome := c.registration == asked || c.registration == forestalled
	change := w.SignOff(c.registration == forestalled)
	if mayCome && !came {
		change = w.Forestall()
	}
	_, err := c.reg.Commit(ctx, change.Ops...)
	switch {
	case err == nil:
		c.registration = signedOff
	case mayCome && !came && mayHaveHappened(err):
		c.registration = forestalled
	}
	if err == nil && (came || !mayCome) {
		c.tellUnobeyed(w)
	}
	return err
}

// signOff removes what this session has in the tree, whatever that is.
func (c *controller) signOff(w *decide.World) {
	ctx, cancel := context.WithTimeout(c.session.Context(), partingTime)
	defer cancel()
	if _, err := c.reg.Commit(ctx, w.SignOff(false).Ops...); err != nil {
		c.couldNotPart(fmt.Errorf("job %s: sign off: %w", c.job, err))
		return
	}
	c.registration = signedOff
	c.tellUnobeyed(w)
}

// signOffLater goes on signing off where that has failed, until it succeeds or the session
// ends. The session is the process's, and may go on for long; as long as it does, an
// instance that is still in the tree is dealt items that it never runs.
func (c *controller) signOffLater() {
	if c.registration == unasked || c.registration == signedOff {
		return
	}
	ctx := c.session.Context()
	for pause := firstHold; sleep(ctx, pause/2+rand.N(pause/2)); pause = min(2*pause, lastHold) {
		err := c.signOffAnew(ctx)
		if c.registration == signedOff {
			c.setUntold(nil)
			say(func() { c.log.Info("left", zap.String("instance", c.self.ID)) })
			return
		}
		say(func() { c.log.Debug("could not sign off yet", zap.Error(err)) })
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
	return c.removeNodes(ctx, c.world())
}

// bail takes this instance out when its controller cannot go on: others take over what it
// had, once its handlers have had time to return.
func (c *controller) bail() {
	if c.session == nil || c.self.ID == "" {
		return
	}
	c.unqueue()
	c.cancelAll(ErrShutdown)
	c.awaitHandlers()
	if c.session.Context().Err() == nil && c.state != nil {
		c.signOff(c.world())
	}
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
