package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
)

// flushTime bounds how long error handlers may take to do what they have put off.
const flushTime = 30 * time.Second

// reporters are the error handlers that have to finish what they have put off.
type reporters struct {
	// Those whose place others have taken, as long as runs still use them. adopt adds,
	// flushRetired removes.
	retired []*exec.ErrorHandlers
	// The flushes under way, and the context of all of them.
	flushing   sync.WaitGroup
	flushable  context.Context
	endFlushes context.CancelFunc
}

// replaceReporters keeps the error handlers that are in force if nothing about them has
// changed. Otherwise they are flushed as soon as no run uses them.
func (c *controller) replaceReporters(next *settings) {
	before := c.settings.errors
	if before.IsFor(next.Config) {
		next.errors = before
		return
	}
	c.retired = append(c.retired, before)
	c.flushRetired()
}

// flushRetired flushes the error handlers that no run uses any more.
func (c *controller) flushRetired() {
	c.retired = slices.DeleteFunc(c.retired, func(e *exec.ErrorHandlers) bool {
		for _, r := range c.runs {
			if r.phase == executing && r.errors == e {
				return false
			}
		}
		for _, made := range c.calls {
			if !made.isDone() && made.errors == e {
				return false
			}
		}
		c.flushing.Go(func() {
			ctx, cancel := context.WithTimeout(c.flushable, flushTime)
			defer cancel()
			e.Flush(ctx)
		})
		return true
	})
}

// flushAll flushes all error handlers when the scheduler ends. They have flushTime, but only
// exec.GraceTime once the time to drain is over. Those that do not return then are left behind.
func (c *controller) flushAll() {
	last := time.AfterFunc(flushTime, c.endFlushes)
	defer last.Stop()
	detach := context.AfterFunc(c.stopping, func() { last.Reset(exec.GraceTime) })
	defer detach()
	for _, e := range append(c.retired, c.settings.errors) {
		c.flushing.Go(func() { e.Flush(c.flushable) })
	}
	done := make(chan struct{})
	go func() {
		c.flushing.Wait()
		close(done)
	}()
	defer c.endFlushes()
	select {
	case <-done:
		return
	case <-c.flushable.Done():
	}
	grace := time.NewTimer(exec.GraceTime)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		c.log.Error("error handlers do not return from Flush although its context has ended")
	}
}
