package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// commit does what a step wants, and reports whether it happened. After a conflict the
// view catches up and the step is asked again; what a lost answer did, the tree tells.
func (c *controller) commit(cm commit) bool {
	revision, err := c.reg.Commit(c.session.Context(), cm.ops...)
	return c.committed(cm, revision, err)
}

// commitAll does several commits that do not depend on each other, some at a time.
func (c *controller) commitAll(commits []commit) {
	if len(commits) == 1 || c.inTurn {
		for _, commit := range commits {
			c.commit(commit)
		}
		return
	}
	type answer struct {
		revision int64
		err      error
	}
	answers := make([]answer, len(commits))
	slots := make(chan struct{}, commitsAtOnce)
	var under sync.WaitGroup
	for i := range commits {
		slots <- struct{}{}
		under.Go(func() {
			answers[i].revision, answers[i].err = c.reg.Commit(c.session.Context(), commits[i].ops...)
			<-slots
		})
	}
	under.Wait()
	for i, a := range answers {
		c.committed(commits[i], a.revision, a.err)
	}
}

// committed takes in the answer to a commit.
func (c *controller) committed(cm commit, revision int64, err error) bool {
	switch {
	case err == nil:
		c.conflicts, c.retryIn = 0, 0
		for _, r := range cm.ends {
			c.drop(r)
		}
		c.start(cm.claims, revision)
		for _, r := range cm.misses {
			r.flagged = true
		}
		return true
	case errors.Is(err, coord.ErrConflict):
		c.log.Debug("conflict", zap.String("step", cm.step), zap.Error(err))
		c.stale = true
		refuse(cm.ends)
		if c.conflicts++; c.conflicts > 3 {
			c.pause() // the view and the store do not agree: do not spin
		}
	default:
		c.failed(cm.step, err)
	}
	return false
}

// refuse remembers that the records of runs could not be removed as they were seen.
func refuse(runs []*run) {
	for _, r := range runs {
		r.refused = true
	}
}

// failed takes in an error of the store: steps wait for a while, longer each time, and
// then look again. What may have happened unseen is looked for.
func (c *controller) failed(step string, err error) {
	if c.session.Context().Err() != nil {
		return
	}
	c.stale = true
	c.suspicious = c.suspicious || errors.Is(err, coord.ErrUnknownOutcome)
	c.log.Warn("store failed", zap.String("step", step), zap.Error(err))
	c.pause()
}

func (c *controller) pause() {
	c.retryIn = min(max(2*c.retryIn, firstRetry), lastRetry)
	c.retryAt = time.Now().Add(c.retryIn)
}

// pausing reports whether steps wait after an error.
func (c *controller) pausing() bool { return time.Now().Before(c.retryAt) }

// catchUp waits until the view holds all that was committed until now.
func (c *controller) catchUp() {
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), partingTime, fmt.Errorf("the view did not catch up in %v", partingTime))
	defer cancel()
	if err := c.view.Sync(ctx); err != nil {
		c.failed("sync", err)
		return
	}
	c.stale = false
	c.syncs++
}

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

// alarm says when the controller is to look again by itself.
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
