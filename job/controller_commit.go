package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

const (
	// catchUpTime bounds how long the view may take to hold what was committed.
	catchUpTime = 5 * time.Second
	// commitsAtOnce bounds the commits of one step that are under way together.
	commitsAtOnce = 8
	// culprits is how many parts are left out of one commit before it is given up until
	// the next look.
	culprits = 3
)

// backoffs are what commits have met. commit, and whoever asks the store, change them.
type backoffs struct {
	troubles troubles
	heals    heals
	passes   int
	stale    bool // a commit met a conflict: the view has to catch up
	syncs    int  // how often it has
}

// answer is what has become of a change.
type answer struct {
	change   decide.Change // without the parts that were left out
	revision int64
	err      error
	struck   []strike
}

// strike is a part that could not be done.
type strike struct {
	name string
	err  error
}

// send tries a commit. The part of a conflict is left out, and the rest tried again at
// once; one that is too large is cut in half. It touches nothing of a controller's.
func send(ctx context.Context, reg coord.Registry, change decide.Change) answer {
	a := answer{change: change}
	for {
		a.revision, a.err = reg.Commit(ctx, a.change.Ops...)
		if conflict, ok := errors.AsType[*coord.ConflictError](a.err); ok {
			culprit := a.change.Holding(conflict.Index)
			if culprit < 0 || len(a.struck) == culprits {
				return a
			}
			a.struck = append(a.struck, strike{a.change.Name(a.change.Parts[culprit]), a.err})
			if len(a.change.Parts) == 1 {
				return a
			}
			a.change = a.change.Without(culprit)
			continue
		}
		if errors.Is(a.err, coord.ErrTooLarge) && len(a.change.Parts) > 1 {
			a.change = a.change.FirstHalf()
			continue
		}
		return a
	}
}

// commit does what a step wants, and reports whether it happened, in part at least. After
// a conflict the view catches up and the step is asked again; what a lost answer did, the
// tree tells.
func (c *controller) commit(change decide.Change) bool {
	change, ok := c.admit(change)
	return ok && c.committed(send(c.session.Context(), c.reg, change))
}

// commitAll does several changes that do not depend on each other, some at a time, and
// reports whether any of them happened.
func (c *controller) commitAll(changes []decide.Change) (any bool) {
	if len(changes) == 1 || c.seams.oneByOne {
		for _, change := range changes {
			any = c.commit(change) || any
		}
		return any
	}
	var admitted []decide.Change
	for _, change := range changes {
		if change, ok := c.admit(change); ok {
			admitted = append(admitted, change)
		}
	}
	ctx := c.session.Context()
	answers := make([]answer, len(admitted))
	together(len(admitted), func(i int) { answers[i] = send(ctx, c.reg, admitted[i]) })
	for _, a := range answers {
		any = c.committed(a) || any
	}
	return any
}

// together calls do for each number below n, several at a time.
func (c *controller) together(n int, do func(int)) {
	if c.seams.oneByOne {
		for i := range n {
			do(i)
		}
		return
	}
	together(n, do)
}

// together calls do for each number below n, several at a time. A panic of one of them is
// the caller's, who is guarded.
func together(n int, do func(int)) {
	slots := make(chan struct{}, commitsAtOnce)
	panics := make(chan any, n)
	var under sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		under.Go(func() {
			through := false
			defer func() {
				if v := recover(); v != nil {
					panics <- v
				} else if !through { // runtime.Goexit
					panics <- errEnded
				}
				<-slots
			}()
			do(i)
			through = true
		})
	}
	under.Wait()
	select {
	case v := <-panics:
		panic(v)
	default:
	}
}

// admit returns what of a change may be tried now: not what has failed and waits.
func (c *controller) admit(change decide.Change) (decide.Change, bool) {
	if !c.attempt(change.Step) {
		return change, false
	}
	if len(c.troubles) == 0 || len(change.Parts) == 0 {
		return change, true
	}
	rest := change.Only(func(p decide.Part) bool { return c.attempt(change.Name(p)) })
	return rest, len(rest.Parts) > 0
}

// attempt reports whether a step, or a part of one, may be tried now. If not, it wakes up
// for the time when it may.
func (c *controller) attempt(name string) bool {
	t, now := c.troubles[name], c.now()
	if t == nil {
		return true
	}
	t.pass = c.passes
	if t.waits(now) {
		c.wakeIn(t.until.Sub(now))
		return false
	}
	return true
}

// committed takes in the answer to a commit.
func (c *controller) committed(a answer) bool {
	for _, s := range a.struck {
		c.stale = true
		c.meet(s.name, s.err, firstHold, lastHold, freeTries)
	}
	switch {
	case a.err == nil:
		c.succeeded(a.change)
		c.follow(a.change, a.revision)
		return true
	case errors.Is(a.err, coord.ErrConflict):
		c.log.Debug("conflict", zap.String("step", a.change.Step), zap.Error(a.err))
		c.stale = true
		if len(a.struck) == 0 || len(a.struck) == culprits {
			c.meet(a.change.Step, a.err, firstPause, lastPause, freeTries)
		}
	default:
		c.failed(a.change.Step, a.err)
	}
	return false
}

// follow does what follows from a change that was committed: runs that have no record any
// more are dropped, and claims begin.
func (c *controller) follow(change decide.Change, token int64) {
	for _, p := range change.Parts {
		if p.Ends != nil {
			c.dropEnded(p.Ends)
		}
		if p.Flags != nil {
			p.Flags.Flagged = true
		}
		if p.Takes != nil {
			c.left = append(c.left, *p.Takes)
		}
		if p.Passes != nil {
			c.observePass(p.Item, *p.Passes)
		}
	}
	if claims := change.Claims(); len(claims) > 0 {
		c.tellClaimed(claims, token)
		c.begins(claims, token)
	}
}

// succeeded ends the troubles of a change, but for those of what comes back each time.
func (c *controller) succeeded(change decide.Change) {
	over := func(name string) {
		if change.Heals && c.heals.done(name, c.now()) {
			c.meet(name, errComesBack, firstHold, lastHold, 0)
			return
		}
		c.troubles.over(name)
	}
	if len(change.Parts) == 0 {
		over(change.Step)
		return
	}
	c.troubles.over(change.Step)
	if len(c.troubles) == 0 && !change.Heals {
		return
	}
	for _, p := range change.Parts {
		over(change.Name(p))
	}
}

// failed takes in an error of the store: the step waits for a while, longer each time, and
// then looks again. What may have happened unseen is looked for.
func (c *controller) failed(step string, err error) {
	if c.session.Context().Err() != nil {
		return
	}
	c.stale = true
	c.suspicious = c.suspicious || errors.Is(err, coord.ErrUnknownOutcome)
	c.log.Debug("store failed", zap.String("step", step), zap.Error(err))
	c.meet(step, err, firstPause, lastPause, 0)
}

// meet notes trouble of a step, or of a part of one, and wakes up for the next attempt.
func (c *controller) meet(name string, err error, first, last time.Duration, free int) {
	now := c.now()
	t := c.troubles.meet(name, err, now, first, last, free)
	t.pass = c.passes
	if t.waits(now) {
		c.wakeIn(t.until.Sub(now))
	}
}

// catchUp waits until the view holds all that was committed until now.
func (c *controller) catchUp() {
	const step = "sync"
	if !c.attempt(step) {
		return
	}
	ctx, cancel := context.WithTimeoutCause(c.session.Context(), catchUpTime, fmt.Errorf("%w: the view did not catch up in %v", coord.ErrUnavailable, catchUpTime))
	defer cancel()
	if err := c.view.Sync(ctx); err != nil {
		c.failed(step, err)
		return
	}
	c.troubles.over(step)
	c.stale = false
	c.syncs++
}
