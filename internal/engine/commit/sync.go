package commit

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

const (
	// syncTime bounds one wait for the view to catch up with the store.
	syncTime = 5 * time.Second
	syncStep = "sync"
)

// SetStale makes the view catch up with the store before the next pass.
func (c *Committer) SetStale() { c.isStale = true }

// IsStale reports whether the view has to catch up with the store.
func (c *Committer) IsStale() bool { return c.isStale }

// IsUnconfirmed reports whether the answer to a commit was lost, and Confirm was not called since.
func (c *Committer) IsUnconfirmed() bool { return c.unconfirmed }

// Confirm notes that the tree was looked through for what commits without an answer have done.
func (c *Committer) Confirm() { c.unconfirmed = false }

// MaySync reports whether the view has to catch up and may try now.
func (c *Committer) MaySync() bool { return c.isStale && c.MayAttempt(syncStep) }

// Sync waits until the view shows all that was committed before the call.
func (c *Committer) Sync() {
	if !c.MaySync() {
		return
	}
	ctx, cancel := context.WithTimeoutCause(c.session, syncTime, fmt.Errorf("%w: the view did not catch up in %v", coord.ErrUnavailable, syncTime))
	defer cancel()
	if err := c.config.View.Sync(ctx); err != nil {
		c.Failed(syncStep, err)
		return
	}
	c.Succeeded(syncStep)
	c.isStale = false
	c.syncs++
}

// Syncs is how often the view has caught up.
func (c *Committer) Syncs() int { return c.syncs }

// SyncedSince makes the view catch up, and reports whether it has done so since the first call with the
// same by, which is 0 then. The view may have shown a commit in parts before.
func (c *Committer) SyncedSince(by *int) bool {
	if *by == 0 {
		c.isStale, *by = true, c.syncs+1
	}
	return c.syncs >= *by
}
