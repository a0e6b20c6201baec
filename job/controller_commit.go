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
	// catchUpTime bounds how long the view may take to hold what was committed.
	catchUpTime = 5 * time.Second
	// commitsAtOnce bounds the commits of one step that are under way together.
	commitsAtOnce = 8
	// culprits is how many parts are left out of one commit before it is given up until
	// the next look.
	culprits = 3
)

// answer is what has become of a commit.
type answer struct {
	commit   commit // without the parts that were left out
	revision int64
	err      error
	struck   []strike
}

// strike is a part that could not be done.
type strike struct {
	name string
	item int
	err  error
}

// send tries a commit. The part of a conflict is left out, and the rest tried again at
// once; one that is too large is cut in half. It touches nothing of a controller's.
func send(ctx context.Context, reg coord.Registry, cm commit) answer {
	a := answer{commit: cm}
	for {
		a.revision, a.err = reg.Commit(ctx, a.commit.ops...)
		if conflict, ok := errors.AsType[*coord.ConflictError](a.err); ok {
			k := a.commit.holding(conflict.Index)
			if k < 0 || len(a.struck) == culprits {
				return a
			}
			culprit := a.commit.parts[k]
			a.struck = append(a.struck, strike{a.commit.name(culprit), culprit.item, a.err})
			if len(a.commit.parts) == 1 {
				return a
			}
			a.commit = a.commit.only(func(p part) bool { return p != culprit })
			continue
		}
		if n := len(a.commit.parts); errors.Is(a.err, coord.ErrTooLarge) && n > 1 {
			last := a.commit.parts[n/2].from
			a.commit = a.commit.only(func(p part) bool { return p.from < last })
			continue
		}
		return a
	}
}

// commit does what a step wants, and reports whether it happened, in part at least. After
// a conflict the view catches up and the step is asked again; what a lost answer did, the
// tree tells.
func (c *controller) commit(cm commit) bool {
	cm, ok := c.admit(cm)
	return ok && c.committed(send(c.session.Context(), c.reg, cm))
}

// commitAll does several commits that do not depend on each other, some at a time, and
// reports whether any of them happened.
func (c *controller) commitAll(commits []commit) (any bool) {
	if len(commits) == 1 || c.inTurn {
		for _, commit := range commits {
			any = c.commit(commit) || any
		}
		return any
	}
	var admitted []commit
	for _, cm := range commits {
		if cm, ok := c.admit(cm); ok {
			admitted = append(admitted, cm)
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

// admit returns what of a commit may be tried now: not what has failed and waits.
func (c *controller) admit(cm commit) (commit, bool) {
	now := c.now()
	waits := func(name string) bool {
		t := c.troubles[name]
		if t == nil {
			return false
		}
		t.pass = c.passes
		if !t.waits(now) {
			return false
		}
		c.wakeIn(t.until.Sub(now))
		return true
	}
	if waits(cm.step) {
		return cm, false
	}
	if len(c.troubles) == 0 || len(cm.parts) == 0 {
		return cm, true
	}
	all := len(cm.parts)
	held := 0
	rest := cm.only(func(p part) bool {
		if waits(cm.name(p)) {
			held++
			return false
		}
		return true
	})
	return rest, held < all
}

// committed takes in the answer to a commit.
func (c *controller) committed(a answer) bool {
	cm := a.commit
	for _, s := range a.struck {
		c.stale = true
		c.meet(s.name, s.err, firstHold, lastHold, freeTries)
	}
	switch {
	case a.err == nil:
		c.succeeded(cm)
		for _, r := range cm.ends {
			c.drop(r)
		}
		c.tellClaimed(cm.claims, a.revision)
		c.start(cm.claims, a.revision)
		for _, p := range cm.parts {
			if trigger, ok := cm.lost[cm.ops[p.from].Path]; ok {
				c.lost = append(c.lost, trigger)
			}
		}
		for _, r := range cm.misses {
			r.flagged = true
		}
		return true
	case errors.Is(a.err, coord.ErrConflict):
		c.log.Debug("conflict", zap.String("step", cm.step), zap.Error(a.err))
		c.stale = true
		if len(a.struck) == 0 || len(a.struck) == culprits {
			c.meet(cm.step, a.err, firstPause, lastPause, freeTries)
		}
	default:
		c.failed(cm.step, a.err)
	}
	return false
}

// succeeded ends the troubles of a commit, but for those of what comes back each time.
func (c *controller) succeeded(cm commit) {
	over := func(name string) {
		if cm.heals && c.heals.done(name, c.now()) {
			c.meet(name, errComesBack, firstHold, lastHold, 0)
			return
		}
		c.troubles.over(name)
	}
	if len(cm.parts) == 0 {
		over(cm.step)
		return
	}
	c.troubles.over(cm.step)
	if len(c.troubles) == 0 && !cm.heals {
		return
	}
	for _, p := range cm.parts {
		over(cm.name(p))
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

// mayTry reports whether a step that asks the store may do so now.
func (c *controller) mayTry(step string) bool {
	_, ok := c.admit(commit{step: step})
	return ok
}

// catchUp waits until the view holds all that was committed until now.
func (c *controller) catchUp() {
	const step = "sync"
	if !c.mayTry(step) {
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
