package commit

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// AtOnce bounds the commits of one step that are under way together.
const AtOnce = 8

// Config is what a committer is made with.
type Config struct {
	Registry coord.Registry
	View     coord.View
	Log      *zap.Logger
	Now      func() clocks.Moment
	WakeIn   func(time.Duration) // has the job make a pass after that time
	Working  func()              // is called before and after requests to the store

	Committed   func(decide.Change, int64) // is called for a change that has happened, with the number of its commit
	Unconfirmed func(decide.Change)        // … whose answer was lost
	Conflicted  func(Conflict)             // … for a part that conflicted
}

// Committer sends the changes of one job. It belongs to the goroutine of the job's loop.
type Committer struct {
	// Sequential makes All, Each and Together do one thing after the other, so that a test can be replayed.
	Sequential bool

	config   Config
	session  context.Context // of the session
	passes   int             // how many passes have begun
	failures failures
	repairs  repairs

	isStale     bool // the view has to catch up before the next pass
	syncs       int  // how often it has
	unconfirmed bool // the answer to a commit was lost, and nobody has looked since
}

// New returns a committer. Begin has to be called before changes are sent.
func New(c Config) *Committer {
	return &Committer{config: c, failures: failures{}, repairs: repairs{}}
}

// Begin begins a session, whose context is given: what has failed in the one before does not
// count. The view has to catch up if it was opened in an earlier session.
func (c *Committer) Begin(session context.Context, isStale bool) {
	c.session = session
	c.Forget()
	c.isStale, c.unconfirmed = isStale, false
}

// Forget ends all back-offs.
func (c *Committer) Forget() { clear(c.failures) }

// BeginPass begins a pass over the steps.
func (c *Committer) BeginPass() { c.passes++ }

// EndPass ends a pass that has gone through all steps. Failures that no step wanted to try again in it are over.
func (c *Committer) EndPass() {
	c.repairs.endPass(c.failures, c.passes, c.config.Now())
	c.failures.endPass(c.passes)
}

// Commit commits a change, and reports whether it happened, at least in part. After a
// conflict the view catches up and the step decides again.
func (c *Committer) Commit(change decide.Change) bool {
	change, ok := c.Admit(change)
	return ok && c.HandleAnswer(Send(c.session, c.config.Registry, change))
}

// All commits changes that do not depend on each other, and reports whether any of them happened.
func (c *Committer) All(changes []decide.Change) bool {
	switch len(changes) {
	case 0:
		return false
	case 1:
		return c.Commit(changes[0])
	}
	return c.Each(slices.Values(changes))
}

// Each is All for changes that are made as they are sent, AtOnce at a time. Each answer is handled as soon as it
// is there (Config.Committed): a claim begins its handlers although other claims are still under way.
func (c *Committer) Each(changes iter.Seq[decide.Change]) (happened bool) {
	var answers chan Answer // nil until two changes are to be sent: most often there is one
	underWay := 0
	take := func(a Answer) {
		underWay--
		happened = c.HandleAnswer(a) || happened
	}
	send := func(change decide.Change) {
		if answers == nil {
			answers = make(chan Answer, AtOnce)
		}
		for underWay == AtOnce {
			take(<-answers)
		}
		underWay++
		go func() { answers <- Send(c.session, c.config.Registry, change) }()
		select {
		case a := <-answers:
			take(a)
		default:
		}
	}
	var last decide.Change
	hasLast := false
	for change := range changes {
		if c.Sequential {
			happened = c.Commit(change) || happened
			continue
		}
		change, ok := c.Admit(change)
		if !ok {
			continue
		}
		if hasLast {
			send(last)
		}
		last, hasLast = change, true
	}
	switch {
	case hasLast && answers == nil:
		return c.HandleAnswer(Send(c.session, c.config.Registry, last)) || happened
	case hasLast:
		send(last)
	}
	for underWay > 0 {
		take(<-answers)
	}
	return happened
}

// ForEach calls do for each number below n, AtOnce at a time.
func (c *Committer) ForEach(n int, do func(int)) {
	limit := make(chan struct{}, AtOnce)
	if c.Sequential {
		limit = make(chan struct{}, 1)
	}
	var calls sync.WaitGroup
	for i := range n {
		limit <- struct{}{}
		calls.Go(func() {
			defer func() { <-limit }()
			do(i)
		})
	}
	calls.Wait()
}

// Admit returns the change without the parts whose back-off is not over, and reports whether
// anything is left to be sent now.
func (c *Committer) Admit(change decide.Change) (decide.Change, bool) {
	if !c.MayAttempt(change.Step) {
		return change, false
	}
	if len(c.failures) == 0 || len(change.Parts) == 0 {
		return change, true
	}
	rest := change.Keep(func(p decide.Part) bool { return c.MayAttempt(change.Name(p)) })
	return rest, len(rest.Parts) > 0
}

// MayAttempt reports whether a step, or a part of one, may try now. If not, the job makes a pass when it may.
func (c *Committer) MayAttempt(name string) bool {
	f, now := c.failures[name], c.config.Now()
	if f != nil {
		f.pass = c.passes
		if f.isWaiting(now) {
			c.config.WakeIn(f.until.Sub(now))
			return false
		}
	}
	c.config.Working() // a slow store does not count as a pass that hangs
	return true
}

// HandleAnswer takes in the answer to a commit: it notes failures and conflicts, and calls
// Config.Committed or Unconfirmed. It reports whether the commit happened.
func (c *Committer) HandleAnswer(a Answer) bool {
	c.config.Working()
	for _, conflict := range a.Conflicts {
		c.isStale = true
		c.record(conflict.Name, conflict.Err, backoff{partPause, c.failures.partPause(conflict.Name, c.config.Now()), freeConflicts})
		c.config.Conflicted(conflict)
	}
	switch {
	case a.Err == nil:
		if len(a.Left) > 0 { // its step is asked again
			c.config.WakeIn(0)
		}
		c.succeeded(a.Change)
		c.config.Committed(a.Change, a.Revision)
		return true
	case errors.Is(a.Err, coord.ErrConflict):
		c.config.Log.Debug("a commit met a conflict; its step decides again", zap.String("step", a.Change.Step), zap.Error(a.Err))
		c.isStale = true
		if len(a.Conflicts) == 0 || len(a.Conflicts) == maxConflicts {
			c.record(a.Change.Step, a.Err, backoff{MinPause, MaxPause, freeConflicts})
		}
	default:
		if errors.Is(a.Err, coord.ErrUnknownOutcome) {
			c.config.Unconfirmed(a.Change)
		}
		c.Failed(a.Change.Step, a.Err)
	}
	return false
}

// succeeded ends the back-offs of a change that has happened. But what has to be repaired again and again
// gets a back-off.
func (c *Committer) succeeded(change decide.Change) {
	over := func(name string) {
		if change.IsRepair && c.repairs.note(name, c.config.Now()) {
			c.record(name, ErrUndone, backoff{partPause, maxPartPause, 0})
			return
		}
		c.Succeeded(name)
	}
	if len(change.Parts) == 0 {
		over(change.Step)
		return
	}
	c.Succeeded(change.Step)
	if len(c.failures) == 0 && !change.IsRepair {
		return
	}
	for _, p := range change.Parts {
		over(change.Name(p))
	}
}
