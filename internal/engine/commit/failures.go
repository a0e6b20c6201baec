package commit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

const (
	// MinPause and MaxPause bound the back-off of a step whose requests fail.
	MinPause = 50 * time.Millisecond
	MaxPause = 2 * time.Second
	// partPause and maxPartPause bound the back-off of a part of a commit. The other parts go
	// on without it, so it can wait longer. A part that fails waits for a partShare of the time
	// since it began to fail: so it goes on soon after what was in its way has gone.
	partPause    = time.Second
	maxPartPause = 30 * time.Second
	partShare    = 4
	// freeConflicts is how many conflicts in a row need no back-off: the tree may just be busy.
	freeConflicts = 3
)

// backoff says how long to wait after a failure. The pauses begin after free failures in a
// row, and grow from min to max.
type backoff struct {
	min, max time.Duration
	free     int
}

// Failure is a row of failures of a step, or of a part of its commits.
type Failure struct {
	Name  string
	Since clocks.Moment // when the first came
	Err   error         // the last

	times int           // how many there were
	pause time.Duration // after the last
	until clocks.Moment // when the next attempt may be made
	pass  int           // the last pass that wanted to try, or kept it
}

// isWaiting reports whether it is too early to try again.
func (f *Failure) isWaiting(now clocks.Moment) bool { return now.Before(f.until) }

// failures are kept by the name of a step, or of a part (decide.Change.Name).
type failures map[string]*Failure

// endPass forgets the failures that nobody wanted to try again in this pass.
func (all failures) endPass(pass int) {
	for name, f := range all {
		if f.pass < pass {
			delete(all, name)
		}
	}
}

// partPause is the longest pause that a part may have now.
func (all failures) partPause(name string, now clocks.Moment) time.Duration {
	if f := all[name]; f != nil {
		return min(max(now.Sub(f.Since)/partShare, partPause), maxPartPause)
	}
	return partPause
}

// record notes a failure. The job makes a pass when the next attempt may be made.
func (c *Committer) record(name string, err error, b backoff) {
	now := c.config.Now()
	f := c.failures[name]
	if f == nil {
		f = &Failure{Name: name, Since: now}
		c.failures[name] = f
	}
	f.Err, f.pass = err, c.passes
	if f.times++; f.times > b.free {
		f.pause = min(max(2*f.pause, b.min), b.max)
		f.until = now.Add(sleep.Jitter(f.pause))
	}
	if f.isWaiting(now) {
		c.config.WakeIn(f.until.Sub(now))
	}
}

// Failed notes that a request of a step to the store has failed. The step has to wait, longer
// each time, and the view catches up before the next pass.
func (c *Committer) Failed(step string, err error) {
	if c.session.Err() != nil {
		return
	}
	c.isStale = true
	c.unconfirmed = c.unconfirmed || errors.Is(err, coord.ErrUnknownOutcome)
	c.config.Log.Debug("a request to the store has failed; its step is tried again", zap.String("step", step), zap.Error(err))
	c.Delay(step, err)
}

// Delay makes a step wait that has failed for another reason than the store.
func (c *Committer) Delay(step string, err error) {
	c.record(step, err, backoff{MinPause, MaxPause, 0})
}

// ViewIsLate notes that a step has found out from the store what the view does not show: the
// view catches up before the next pass. what completes the sentence "the view of the job …".
func (c *Committer) ViewIsLate(step, what string) {
	c.isStale = true
	c.record(step, fmt.Errorf("the view of the job %s: %w", what, coord.ErrUnavailable), backoff{MinPause, MaxPause, 1})
}

// Succeeded ends the failures of a step, or of a part.
func (c *Committer) Succeeded(name string) { delete(c.failures, name) }

// KeepFailures keeps the failures of a step, and of its parts, although the step does not try in this pass.
func (c *Committer) KeepFailures(step string) {
	for name, f := range c.failures {
		if name == step || strings.HasPrefix(name, step+" ") {
			f.pass = c.passes
		}
	}
}

// HasFailures reports whether anything fails now.
func (c *Committer) HasFailures() bool { return len(c.failures) > 0 }

// Oldest returns the oldest failure of a kind, and how many of that kind have lasted for a
// time; nil and 0 if nothing of that kind fails.
func (c *Committer) Oldest(kind func(error) bool, lasting time.Duration) (oldest *Failure, n int) {
	now := c.config.Now()
	for _, f := range c.failures {
		if !kind(f.Err) {
			continue
		}
		if now.Sub(f.Since) >= lasting {
			n++
		}
		if oldest == nil || f.Since.Before(oldest.Since) || f.Since.Equal(oldest.Since) && f.Name < oldest.Name {
			oldest = f
		}
	}
	return oldest, n
}

// OfTree reports whether an error is about what is in the tree. All others are about the store.
func OfTree(err error) bool { return errors.Is(err, coord.ErrConflict) || errors.Is(err, ErrUndone) }

// OfStore is the opposite of OfTree.
func OfStore(err error) bool { return !OfTree(err) }
