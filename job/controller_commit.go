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

const (
	// firstRetry and lastRetry bound the back-off after an error of the store.
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
	// catchUpTime bounds how long the view may take to hold what was committed.
	catchUpTime = 5 * time.Second
	// commitsAtOnce bounds the commits of one step that are under way together.
	commitsAtOnce = 8
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
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), catchUpTime, fmt.Errorf("the view did not catch up in %v", catchUpTime))
	defer cancel()
	if err := c.view.Sync(ctx); err != nil {
		c.failed("sync", err)
		return
	}
	c.stale = false
	c.syncs++
}
