package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// departure is the way out of the job.
type departure struct {
	stage    stage // beginToLeave, resolve, cancelRuns, goes
	cause    error // why this instance leaves: beginToLeave, resolve, abandon
	farewell error // what loop returns: goes
	// It was tried to leave by one commit: leaveAtOnce.
	triedAtOnce bool
	// The last whole pass knew from its beginning that the time to drain is over: once.
	knowsOver bool
}

// stage is how far an instance is on its way out.
//
//	staying ──► draining ──► cancelling ──► gone
//
// draining is left out if the job was removed, cancelling if the handlers return in time.
// An instance whose session has ended is gone at once.
type stage int

const (
	staying stage = iota
	// draining: this instance claims nothing more. What it has claimed may come to its end.
	draining
	// cancelling: the contexts of handlers have ended, and handlers have time to return.
	cancelling
	// gone: nothing is left to be done, and the loop ends.
	gone
)

// PartingTime bounds each attempt to tell the store, in the end, that this instance leaves.
const PartingTime = 5 * time.Second

func (c *controller) isLeaving() bool { return c.stage != staying }

// beginToLeave begins an orderly shutdown, if nothing else has made this instance leave.
func (c *controller) beginToLeave() {
	if c.isLeaving() {
		return
	}
	c.stage, c.cause = draining, ErrShutdown
	c.log.Info("leaving", zap.Int("running", len(c.runs)))
}

// goes ends the loop. The loop returns why this instance leaves, joined with err.
func (c *controller) goes(err error) {
	c.stage, c.farewell = gone, c.why()
	if err != nil {
		c.farewell = errors.Join(c.farewell, err)
	}
}

// why returns the reason to leave as an error; nil after a Shutdown.
func (c *controller) why() error {
	if c.cause == nil || errors.Is(c.cause, ErrShutdown) {
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, c.cause)
}

// leave takes this instance out of the job, stage by stage. It gives leadership up and lets
// its idle items go. It waits for the runs until the time to drain is over, then ends the
// contexts of the rest and gives their handlers time to return. It hands over what was not
// finished, and deregisters.
func (c *controller) leave(w *decide.World) error {
	if c.giveBackEarly(w) && c.stopping.Err() == nil {
		c.wakeIn(firstPause)
		return nil
	}
	if c.mayLeaveAtOnce(w) && c.leaveAtOnce(w) {
		return nil
	}
	// Once the time is over, a store that refuses this commit must not hold up the rest.
	if change := w.Resign(len(c.runs) > 0 || c.calling() > 0); change != nil && c.stopping.Err() == nil {
		c.commit(*change)
		return nil // the next pass shows whether it happened
	}
	if c.executing() > 0 || len(c.queue) > 0 || c.calling() > 0 {
		if c.stopping.Err() == nil {
			return nil
		}
		if c.stage == draining || len(c.queue) > 0 {
			c.cancelRuns(ErrShutdown)
		}
		if left := c.giveGrace(w.Moment); c.executing()+c.calling() > 0 && left > 0 {
			c.wakeIn(left)
			return nil
		}
	}
	c.part()
	return nil
}

// mayLeaveAtOnce reports whether one commit is enough to leave: nothing runs here, and the
// view shows all that this instance has in the tree. If it may have been elected and the view
// does not show that, it resigns first and looks again.
func (c *controller) mayLeaveAtOnce(w *decide.World) bool {
	return !c.triedAtOnce && len(c.runs) == 0 && c.calling() == 0 && len(w.Calls()) == 0 && c.registration == seen && w.IsRegistered() &&
		!c.stale && !c.suspicious && len(w.Leftovers(c.work)) == 0 && (w.Leads() || !c.elected)
}

// leaveAtOnce deregisters and gives leadership up in one commit. It tries once, and reports
// whether it has.
func (c *controller) leaveAtOnce(w *decide.World) bool {
	c.triedAtOnce = true
	ctx, cancel := context.WithTimeout(c.session.Context(), PartingTime)
	defer cancel()
	if a := send(ctx, c.reg, w.LeaveAtOnce()); a.err != nil {
		c.committed(a)
		return false
	}
	c.registration = deregistered
	c.logUnobeyed(w)
	c.log.Info("left", zap.String("instance", c.self.ID))
	c.goes(nil)
	return true
}

// cancelRuns ends the runs that wait for a thread, and the contexts of handlers that run.
func (c *controller) cancelRuns(cause error) {
	c.stage = cancelling
	c.unqueue()
	c.cancelAll(cause)
	c.cancelCalls(cause)
}

// abandon leaves because the whole job was removed. It writes nothing; it only removes what
// this session still has in the tree.
func (c *controller) abandon(w *decide.World) {
	if !errors.Is(c.cause, ErrJobRemoved) {
		c.log.Info("job removed, shutting down")
		c.cause = ErrJobRemoved
		c.cancelRuns(ErrJobRemoved)
	}
	if left := c.giveGrace(w.Moment); c.executing()+c.calling() > 0 && left > 0 {
		c.wakeIn(left)
		return
	}
	c.deregister(w)
	c.goes(nil)
}

// isUnfinished reports whether somebody else has to run the item again: the handler has not
// returned, or it has returned an error after its context had ended.
func (r *run) isUnfinished() bool {
	return r.phase != done || r.ending.cut && r.ending.err != nil
}

// part tells the store how the remaining runs have ended, removes this instance's nodes, and
// ends the loop. It has PartingTime for the store, because the time to drain may be over.
func (c *controller) part() {
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), PartingTime, fmt.Errorf("%w: not through within %v", coord.ErrUnavailable, PartingTime))
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
		err = fmt.Errorf("job %s: items %s still run; they did not return within %v of the end of their contexts", c.job, brief.Items(still), c.options.CancelGrace)
	}
	c.goes(err)
}

// couldNotPart notes that the store was not told everything, and why.
func (c *controller) couldNotPart(err error) {
	c.setUntold(err)
	if c.registration == deregistered || c.session.Context().Err() != nil {
		c.log.Warn("could not tell the registry how all runs ended; other instances recover them", zap.Error(err))
		return
	}
	c.log.Warn("could not remove this instance's nodes yet; it is tried again until the session ends", zap.Error(err))
}

// setUntold notes why the store was not told everything; nil if it was.
func (c *controller) setUntold(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.untold = err
}

// partingTries is how often tellAll looks at the tree. The last two times it goes on after a
// commit that fails, so that the nodes of this instance go although something is in the way.
const partingTries = 7

// tellAll brings the view up to date and tells the store what is left to tell: which runs
// have finished, which others have to run again, and then that this instance is gone. If
// something came in between, it looks again.
func (c *controller) tellAll(ctx context.Context) (err error) {
	pause := firstPause
	for try := range partingTries {
		if try > 2 {
			if pause = min(2*pause, time.Second); !rest.For(ctx, pause/2+rand.N(pause/2)) {
				return errors.Join(err, context.Cause(ctx))
			}
		}
		if syncErr := c.view.Sync(ctx); syncErr != nil {
			return errors.Join(syncErr, err)
		}
		c.look()
		w := c.world()
		isThrough, tellErr := c.tellOnce(ctx, &w, try >= partingTries-2)
		if isThrough || !mayTellAgain(tellErr) {
			return tellErr
		}
		err = tellErr
	}
	return errors.Join(err, fmt.Errorf("%w: something came in between %d times", coord.ErrUnavailable, partingTries))
}

// mayTellAgain reports whether it may help to look again: there was more to tell, something
// came in between, or an answer was lost.
func mayTellAgain(err error) bool {
	return err == nil || errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrUnknownOutcome)
}

// tellOnce tells the store what is left, by one state of the tree. isThrough is true when
// this instance's nodes are removed. After an error tellOnce stops, so that tellAll looks
// again; if this is the last time, it goes on with the rest.
func (c *controller) tellOnce(ctx context.Context, w *decide.World, isLast bool) (isThrough bool, err error) {
	changes := c.lastWords(w)
	down := w.Resign(false)
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
		return false, nil // look again: only now it shows whether this instance was elected before
	}
	if goneErr := c.removeNodes(ctx, w); goneErr != nil {
		return false, errors.Join(err, goneErr)
	}
	return true, err
}

// lastWords returns the changes that end all runs with records: some are finished, the
// others are handed over.
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
	return slices.Concat(c.finishes(w, finished), w.ReleaseForFailover(left), c.endedCalls(w))
}

// tellChange commits a change, and notes which runs have no record any more.
func (c *controller) tellChange(ctx context.Context, change decide.Change) error {
	a := send(ctx, c.reg, change)
	if a.err != nil {
		c.rememberUnsure(a)
		return a.err
	}
	for _, p := range a.change.Parts {
		if p.Ends != nil {
			c.work.Ended[p.Item] = p.Ends.Token
			p.Ends.Recorded = false // though its handler may still run
		}
		if p.Skips != nil {
			c.reportSkipped(p.Item, *p.Skips)
			c.isSure(p.Item)
		}
	}
	if len(a.struck) > 0 {
		return a.struck[0].err
	}
	return nil
}

// removeNodes removes what this instance still has in the tree. If its registration may
// still come, a session's node has to be there and to stay: it blocks the registration. If the
// note of a removal blocks it, nothing is written into the tree of a job that is gone.
func (c *controller) removeNodes(ctx context.Context, w *decide.World) error {
	_, came := w.Sessions[c.self.ID]
	mayCome := c.registration == asked || c.registration == fenced
	change := w.Deregister(c.registration == fenced)
	if mayCome && !came {
		if c.registration == asked && c.isBarred(ctx) {
			c.registration = deregistered
			return nil
		}
		change = w.FenceRegistration()
	}
	_, err := c.reg.Commit(ctx, change.Ops...)
	switch {
	case err == nil:
		c.registration = deregistered
	case mayCome && !came && mayHaveHappened(err):
		c.registration = fenced
	}
	if err == nil && (came || !mayCome) {
		c.logUnobeyed(w)
	}
	return err
}

// isBarred reports whether no registration can come any more: the job was removed, and a note says
// so. A registration has the condition that there is a configuration, or no such note.
func (c *controller) isBarred(ctx context.Context) bool {
	if !errors.Is(c.cause, ErrJobRemoved) {
		return false
	}
	note, err := get(ctx, c.reg, c.job.Removal())
	return err == nil && note.Created != 0
}

// deregister removes this instance's nodes, in one attempt.
func (c *controller) deregister(w *decide.World) {
	ctx, cancel := context.WithTimeout(c.session.Context(), PartingTime)
	defer cancel()
	if err := c.removeNodes(ctx, w); err != nil {
		c.couldNotPart(fmt.Errorf("job %s: deregister: %w", c.job, err))
	}
}

// deregisterLater tries to deregister until that succeeds or the session ends, if it has failed
// before. The session belongs to the whole process and may go on for long. Until it ends,
// an instance that is still in the tree is dealt items that it never runs.
func (c *controller) deregisterLater() {
	if c.registration == unasked || c.registration == deregistered {
		return
	}
	ctx := c.session.Context()
	for pause := firstHold; rest.For(ctx, pause/2+rand.N(pause/2)); pause = min(2*pause, lastHold) {
		err := c.deregisterAnew(ctx)
		if c.registration == deregistered {
			c.setUntold(nil)
			c.log.Info("left", zap.String("instance", c.self.ID))
			return
		}
		c.log.Debug("could not deregister yet", zap.Error(err))
	}
}

// deregisterAnew deregisters by a new view of the tree. Others recover what ran here, as after a
// crash.
func (c *controller) deregisterAnew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, PartingTime)
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
	w := c.world()
	return c.removeNodes(ctx, &w)
}

// bail takes this instance out of the tree when its controller cannot go on. Its handlers
// have time to return first, because others then take over what it had.
func (c *controller) bail() {
	if c.session == nil || c.self.ID == "" {
		return
	}
	c.unqueue()
	c.cancelAll(ErrShutdown)
	c.cancelCalls(ErrShutdown)
	c.awaitHandlers()
	if c.session.Context().Err() == nil && c.state != nil {
		w := c.world()
		c.deregister(&w)
	}
}
