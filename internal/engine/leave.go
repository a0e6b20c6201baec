package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// An instance leaves as a pod does. Draining, it claims nothing more, gives leadership up, and releases what
// waits for its tick; what runs may come to its end (leave). When the time to drain is over, the contexts of handlers
// end, and they have CancelGrace to return (cancelHandlers, graceLeft). Then it hands over: the records of runs go, what was
// cut short is marked for failover, and its own nodes are removed (finalize, handOver, deregister). The loop
// ends then. If the store did not answer, the removal is tried in the background until the session ends (retryDeregister).

// HandoverTimeout bounds each attempt to tell the store, in the end, that this instance leaves.
const HandoverTimeout = 5 * time.Second

// maxDeregisterPause is the longest pause between two attempts in the background to deregister.
const maxDeregisterPause = 30 * time.Second

func (c *controller) isLeaving() bool { return c.departure.stage != running }

// startDraining begins an orderly shutdown, unless this instance is leaving already.
func (c *controller) startDraining() {
	if c.isLeaving() {
		return
	}
	c.departure.drain(jobtype.ErrShutdown)
	c.log.Info("leaving", zap.Int("running", len(c.runs)))
}

// terminate ends the loop, which returns why this instance leaves, joined with err.
func (c *controller) terminate(err error) {
	c.departure.stage, c.departure.err = terminated, c.departure.reason(c.job)
	if err != nil {
		c.departure.err = errors.Join(c.departure.err, err)
	}
}

// leave does what comes next on the way out. Each pass calls it again:
//
//  1. release the claims whose tick has not come
//  2. leave in one commit, if nothing runs here
//  3. give up leadership and idle items (Resign), unless the time to drain is over
//  4. wait for the runs until the time to drain is over, then cancel their contexts, and wait for the grace period
//  5. finalize
func (c *controller) leave(w *decide.World) error {
	if c.releaseEarly(w) && c.drainTime.Err() == nil {
		c.wakeIn(commit.MinPause)
		return nil
	}
	if c.canLeaveInOneCommit(w) && c.leaveInOneCommit(w) {
		return nil
	}
	// Once the time is over, a store that refuses this commit must not hold up the rest.
	if change := w.Resign(len(c.runs) > 0 || c.calls.Pending() > 0); change != nil && c.drainTime.Err() == nil {
		c.commits.Commit(*change)
		return nil // the next pass shows whether it happened
	}
	if c.busy > 0 || len(c.queue) > 0 || c.calls.Pending() > 0 {
		if c.drainTime.Err() == nil {
			return nil
		}
		if c.departure.stage == draining || len(c.queue) > 0 {
			c.log.Warn("the time to drain is over: executions are cut short", zap.Int("running", c.busy))
			c.cancelHandlers(jobtype.ErrShutdown)
		}
		if left := c.graceLeft(w.Moment); c.busy+c.calls.Pending() > 0 && left > 0 {
			c.wakeIn(left)
			return nil
		}
	}
	c.finalize()
	return nil
}

// canLeaveInOneCommit reports whether one commit is enough to leave: nothing runs here, and the view shows all that this
// instance has in the tree. If it may have been elected and the view does not show that, it has to resign first.
func (c *controller) canLeaveInOneCommit(w *decide.World) bool {
	return !c.triedOneCommit && len(c.runs) == 0 && c.calls.Pending() == 0 && len(w.Calls()) == 0 && c.registration == seen && w.IsRegistered() &&
		!c.commits.IsStale() && !c.commits.IsUnconfirmed() && len(w.Leftovers(c.work)) == 0 && (w.Leads() || !c.elected)
}

// leaveInOneCommit deregisters and gives leadership up in one commit. It tries once, and reports whether it has.
func (c *controller) leaveInOneCommit(w *decide.World) bool {
	c.triedOneCommit = true
	ctx, cancel := context.WithTimeout(c.session.Context(), HandoverTimeout)
	defer cancel()
	if a := commit.Send(ctx, c.reg, w.LeaveInOneCommit()); a.Err != nil {
		c.commits.HandleAnswer(a)
		return false
	}
	c.registration = deregistered
	c.reporter.LostOwnTrigger(w)
	c.log.Info("left", zap.String("instance", c.self.ID))
	c.terminate(nil)
	return true
}

// cancelHandlers ends the runs that wait for a thread, and the contexts of handlers that run.
// It begins the stage cancelling.
func (c *controller) cancelHandlers(cause error) {
	c.departure.stage = cancelling
	c.clearQueue()
	c.cancelAll(cause)
	c.calls.Cancel(cause)
}

// whyGone returns why the configuration is gone; nil if the store has it. Without a note of the removal, and after a lost
// session, the store was put back, or replaced by an empty one.
func (c *controller) whyGone() (cause, err error) {
	if config, err := get(c.session.Context(), c.reg, c.job.Config()); err != nil || config.Created != 0 {
		return nil, err
	}
	if c.wasLost {
		if note, err := get(c.session.Context(), c.reg, c.job.Removal()); err != nil || note.Created == 0 {
			return fmt.Errorf("%w, which has no such job: a restart of the process sets it up again", coord.ErrRestored), err
		}
	}
	return jobtype.ErrJobRemoved, nil
}

// leaveRemovedJob leaves because the whole job was removed. It hands nothing over; it only removes the nodes of this
// instance.
func (c *controller) leaveRemovedJob(w *decide.World, cause error) {
	if !c.departure.isForRemoval() {
		c.departure.cause = cause
		c.log.Info("the job is gone, shutting down", zap.Error(c.departure.cause))
		c.cancelHandlers(c.departure.cause)
	}
	if left := c.graceLeft(w.Moment); c.busy+c.calls.Pending() > 0 && left > 0 {
		c.wakeIn(left)
		return
	}
	c.deregister(w)
	c.terminate(nil)
}

// isUnfinished reports whether somebody else has to run the item again: the handler has not
// returned, or it has returned an error after its context had ended.
func (r *run) isUnfinished() bool {
	return r.phase != exec.Done || r.ending.IsCut && r.ending.Err != nil
}

// finalize hands over the remaining runs, removes this instance's nodes, and ends the loop. It has
// HandoverTimeout for the store, because the time to drain may be over.
func (c *controller) finalize() {
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), HandoverTimeout, fmt.Errorf("%w: not through within %v", coord.ErrUnavailable, HandoverTimeout))
	defer cancel()
	var still []int
	for _, r := range c.runs {
		if r.phase == exec.Executing {
			still = append(still, r.Item)
		}
	}
	if err := c.handOver(ctx); err != nil {
		c.handoverFailed(fmt.Errorf("job %s: hand over: %w", c.job, err))
	} else {
		c.log.Info("left", zap.String("instance", c.self.ID), zap.Int("handlers that still run", len(still)))
	}
	var err error
	if len(still) > 0 {
		err = fmt.Errorf("job %s: items %s still run; they did not return within %v of the end of their contexts", c.job, brief.Items(still), c.options.CancelGrace)
	}
	c.terminate(err)
}

// handoverFailed remembers, for Shutdown, that runs were not handed over or nodes not removed, and logs it.
func (c *controller) handoverFailed(err error) {
	c.setHandoverErr(err)
	if c.registration == deregistered || c.session.Context().Err() != nil {
		c.log.Warn("could not tell the registry how all runs ended; other instances recover them", zap.Error(err))
		return
	}
	c.log.Warn("could not remove this instance's nodes yet; it is tried again until the session ends", zap.Error(err))
}

// setHandoverErr sets what Shutdown returns of the handover; nil if it has succeeded.
func (c *controller) setHandoverErr(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handoverErr = err
}

// handoverTries is how often handOver tries. The last two times it goes on after a commit that fails, so that
// the nodes of this instance are removed although something is in the way.
const handoverTries = 7

// handOver brings the view up to date and commits what is left: how runs have ended, which items have to run
// again, and then the removal of this instance's nodes. After a conflict it reads the view again.
func (c *controller) handOver(ctx context.Context) (err error) {
	backoff := sleep.Backoff{Min: 2 * commit.MinPause, Max: time.Second}
	for try := range handoverTries {
		if try > 2 && !backoff.Wait(ctx) {
			return errors.Join(err, context.Cause(ctx))
		}
		if syncErr := c.view.Sync(ctx); syncErr != nil {
			return errors.Join(syncErr, err)
		}
		c.look()
		w := c.newWorld()
		isThrough, tellErr := c.tryHandOver(ctx, &w, try >= handoverTries-2)
		if isThrough || !isWorthRetrying(tellErr) {
			return tellErr
		}
		err = tellErr
	}
	return errors.Join(err, fmt.Errorf("%w: something came in between %d times", coord.ErrUnavailable, handoverTries))
}

// isWorthRetrying reports whether a newer view may help: there is more to commit, a commit conflicted, or an
// answer was lost.
func isWorthRetrying(err error) bool {
	return err == nil || errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrUnknownOutcome)
}

// tryHandOver commits what is left to hand over, by one state of the tree. isThrough is true when
// this instance's nodes are removed. It stops at the first error, so that handOver reads the view again;
// if this is a last try, it goes on with the rest.
func (c *controller) tryHandOver(ctx context.Context, w *decide.World, isLast bool) (isThrough bool, err error) {
	changes := c.handoverChanges(w)
	down := w.Resign(false)
	if down != nil {
		changes = append(changes, *down)
	}
	for _, change := range changes {
		if tellErr := c.commitHandover(ctx, w, change); tellErr != nil {
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

// handoverChanges returns the changes that end all runs with records: some are finished, the
// others are released for failover.
func (c *controller) handoverChanges(w *decide.World) []decide.Change {
	var finished, left []*decide.Run
	for _, r := range c.runs {
		switch {
		case w.RecordOwner(&r.Run) != decide.Ours:
		case r.isUnfinished():
			left = append(left, &r.Run)
		default:
			finished = append(finished, &r.Run)
		}
	}
	return slices.Concat(c.finishes(w, finished), w.ReleaseForFailover(left), c.calls.EndChanges(w))
}

// commitHandover commits a change, and notes which runs have no record any more. Runs stay in c.runs, because their
// handlers may still run.
func (c *controller) commitHandover(ctx context.Context, w *decide.World, change decide.Change) error {
	a := commit.Send(ctx, c.reg, change)
	if a.Err != nil {
		if errors.Is(a.Err, coord.ErrUnknownOutcome) {
			c.rememberUnconfirmed(w, a.Change)
		}
		return a.Err
	}
	for _, p := range a.Change.Parts {
		if p.Ends != nil {
			c.work.Ended[p.Item] = p.Ends.Token
			p.Ends.Recorded = false // though its handler may still run
		}
		if p.Skips != nil {
			c.reporter.Skipped(w, p.Item, *p.Skips)
		}
	}
	var errs []error
	if len(a.Conflicts) > 0 {
		errs = append(errs, a.Conflicts[0].Err)
	}
	for _, left := range a.Left {
		errs = append(errs, c.commitHandover(ctx, w, left))
	}
	return errors.Join(errs...)
}

// removeNodes removes what this instance still has in the tree. If its registration may still arrive, it leaves or
// writes the session's node, which fences the registration (decide.World.FenceRegistration). Where the note of a removed
// job does that, nothing is written into the tree of a job that is gone.
func (c *controller) removeNodes(ctx context.Context, w *decide.World) error {
	_, came := w.Sessions[c.self.ID]
	mayCome := c.registration == asked || c.registration == fenced
	change := w.Deregister(c.registration == fenced)
	if mayCome && !came {
		if c.registration == asked && c.isRegistrationBarred(ctx) {
			c.registration = deregistered
			return nil
		}
		change = w.FenceRegistration()
	}
	_, err := c.reg.Commit(ctx, change.Ops...)
	switch {
	case err == nil:
		c.registration = deregistered
	case mayCome && !came && commit.MayHaveHappened(err):
		c.registration = fenced
	}
	if err == nil && (came || !mayCome) {
		c.reporter.LostOwnTrigger(w)
	}
	return err
}

// isRegistrationBarred reports whether no registration can succeed any more: the job was removed, and a note says
// so. A registration has the condition that there is a configuration, or no such note.
func (c *controller) isRegistrationBarred(ctx context.Context) bool {
	if !c.departure.isForRemoval() {
		return false
	}
	note, err := get(ctx, c.reg, c.job.Removal())
	return err == nil && note.Created != 0
}

// deregister tries once to remove this instance's nodes.
func (c *controller) deregister(w *decide.World) {
	ctx, cancel := context.WithTimeout(c.session.Context(), HandoverTimeout)
	defer cancel()
	if err := c.removeNodes(ctx, w); err != nil {
		c.handoverFailed(fmt.Errorf("job %s: deregister: %w", c.job, err))
	}
}

// retryDeregister tries to deregister until that succeeds or the session ends, if it has failed
// before. The session belongs to the whole process and may go on for long; as long as this instance
// is in the tree it is assigned items that it never runs.
func (c *controller) retryDeregister() {
	if c.registration == unasked || c.registration == deregistered {
		return
	}
	ctx := c.session.Context()
	for backoff := (sleep.Backoff{Min: time.Second, Max: maxDeregisterPause}); backoff.Wait(ctx); {
		err := c.deregisterByNewView(ctx)
		if c.registration == deregistered {
			c.setHandoverErr(nil)
			c.log.Info("left", zap.String("instance", c.self.ID))
			return
		}
		c.log.Debug("could not deregister yet", zap.Error(err))
	}
}

// deregisterByNewView tries once to deregister, by a view that it opens. Others find what ran here
// as after a crash.
func (c *controller) deregisterByNewView(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, HandoverTimeout)
	defer cancel()
	view, err := c.reg.View(ctx, string(c.job), coord.AllLevels, jobtree.Bounds())
	if err != nil {
		return err
	}
	defer view.Close()
	if err := view.Sync(ctx); err != nil {
		return err
	}
	c.state = jobtree.Read(view.Snapshot(), c.job)
	w := c.newWorld()
	return c.removeNodes(ctx, &w)
}

// abort takes this instance out of the tree when its controller cannot go on. Its handlers
// have time to return first, because others then run its items again.
func (c *controller) abort() {
	if c.session == nil || c.self.ID == "" {
		return
	}
	c.clearQueue()
	c.cancelAll(jobtype.ErrShutdown)
	c.calls.Cancel(jobtype.ErrShutdown)
	c.awaitHandlers()
	if c.session.Context().Err() == nil && c.state != nil {
		w := c.newWorld()
		c.deregister(&w)
	}
}
