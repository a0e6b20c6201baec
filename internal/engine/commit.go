package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
)

const (
	// catchUpTime bounds one wait for the view to catch up with the store.
	catchUpTime = 5 * time.Second
	// commitsAtOnce bounds the commits of one step that are under way together.
	commitsAtOnce = 8
	// culprits is how many parts may be left out of one commit. If it still conflicts, it is
	// given up, and the step decides again when the view has caught up.
	culprits = 3
)

// backoffs say when what has failed may be tried again, and whether the view is behind.
type backoffs struct {
	// What fails now. meet adds; succeeded, catchUp, confirm, pass and begin remove.
	troubles troubles
	// What was corrected of late. succeeded adds, pass removes.
	heals heals
	// How many passes have begun. once counts.
	passes int
	// The view has to catch up before the next pass, because it is behind the store or may
	// be. Whoever finds that sets it; catchUp clears it.
	stale bool
	// How often the view has caught up. catchUp counts.
	syncs int
}

// answer is what has become of a change that was sent.
type answer struct {
	change   decide.Change // as it was sent last: parts may have been left out
	revision int64         // of the commit
	err      error
	struck   []strike // parts that conflicted
}

// strike is a part that conflicted.
type strike struct {
	name string
	part decide.Part
	err  error
}

// send commits a change. A part that conflicts is left out, and the rest is sent again at
// once. Of a change that is too large only the first half is sent; the step asks for the
// rest later. send uses nothing of a controller's, so several may run at once.
func send(ctx context.Context, reg coord.Registry, change decide.Change) answer {
	a := answer{change: change}
	if change.Urgency != coord.Usual {
		ctx = coord.WithUrgency(ctx, change.Urgency)
	}
	for {
		a.revision, a.err = reg.Commit(ctx, a.change.Ops...)
		if conflict, ok := errors.AsType[*coord.ConflictError](a.err); ok {
			culprit := a.change.Holding(conflict.Index)
			if culprit < 0 || len(a.struck) == culprits {
				return a
			}
			part := a.change.Parts[culprit]
			a.struck = append(a.struck, strike{a.change.Name(part), part, a.err})
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

// commit commits a change, and reports whether it happened, at least in part. After a
// conflict the view catches up and the step decides again. If the answer is lost, the next
// snapshot shows whether the commit happened.
func (c *controller) commit(change decide.Change) bool {
	change, ok := c.admit(change)
	return ok && c.committed(send(c.session.Context(), c.reg, change))
}

// commitAll commits changes that do not depend on each other, and reports whether any of them
// happened.
func (c *controller) commitAll(changes []decide.Change) bool {
	if len(changes) < 2 {
		return len(changes) == 1 && c.commit(changes[0])
	}
	return c.commitEach(slices.Values(changes))
}

// commitEach is commitAll for changes that are made as they are sent, commitsAtOnce at a
// time. What follows from a commit follows as soon as its own answer is there: a claim begins
// its handlers although others are still under way.
func (c *controller) commitEach(changes iter.Seq[decide.Change]) (happened bool) {
	if c.seams.oneByOne {
		for change := range changes {
			happened = c.commit(change) || happened
		}
		return happened
	}
	ctx := c.session.Context()
	answers := make(chan sent, commitsAtOnce)
	underWay := 0
	var panicked []any
	take := func(s sent) {
		underWay--
		if s.panicked != nil {
			panicked = append(panicked, s.panicked)
			return
		}
		happened = c.committed(s.answer) || happened
	}
	for change := range changes {
		change, ok := c.admit(change)
		if !ok {
			continue
		}
		for underWay == commitsAtOnce {
			take(<-answers)
		}
		underWay++
		go sendTo(ctx, answers, c.reg, change)
		select {
		case s := <-answers:
			take(s)
		default:
		}
	}
	for underWay > 0 {
		take(<-answers)
	}
	if len(panicked) > 0 {
		panic(panicked[0]) // Scheduler.run recovers from it
	}
	return happened
}

// sent is a change that was sent, with what has become of it.
type sent struct {
	answer   answer
	panicked any // what the registry has panicked with; nil if it has not
}

// sendTo is send for a goroutine of its own, which may end in any way.
func sendTo(ctx context.Context, answers chan<- sent, reg coord.Registry, change decide.Change) {
	s := sent{panicked: runner.ErrEnded} // for runtime.Goexit
	defer func() {
		if v := recover(); v != nil {
			s.panicked = v
		}
		answers <- s
	}()
	s.answer = send(ctx, reg, change)
	s.panicked = nil
}

// together calls do for each number below n: several at a time, or in order if a test
// wants that.
func (c *controller) together(n int, do func(int)) {
	if c.seams.oneByOne {
		for i := range n {
			do(i)
		}
		return
	}
	together(n, do)
}

// together calls do for each number below n, commitsAtOnce at a time. If one of them
// panics, together panics when all have ended: Scheduler.run recovers from it.
func together(n int, do func(int)) {
	limit := make(chan struct{}, commitsAtOnce)
	panics := make(chan any, n)
	var under sync.WaitGroup
	for i := range n {
		limit <- struct{}{}
		under.Go(func() {
			through := false
			defer func() {
				if v := recover(); v != nil {
					panics <- v
				} else if !through { // runtime.Goexit
					panics <- runner.ErrEnded
				}
				<-limit
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

// admit returns the change without the parts that have to wait because they failed before,
// and reports whether anything is left to be tried now.
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

// attempt reports whether a step, or a part of one, may be tried now. If not, the
// controller will wake up when it may.
func (c *controller) attempt(name string) bool {
	t, now := c.troubles[name], c.moment()
	if t != nil {
		t.pass = c.passes
		if t.waits(now) {
			c.wakeIn(t.until.Sub(now))
			return false
		}
	}
	c.atWork(true) // a slow store is none that holds the pass up
	return true
}

// committed takes in the answer to a commit, and reports whether the commit happened.
func (c *controller) committed(a answer) bool {
	c.atWork(true)
	for _, s := range a.struck {
		c.stale = true
		c.meet(s.name, s.err, firstHold, c.troubles.hold(s.name, c.moment()), freeTries)
		c.forgoCompletion(s)
	}
	switch {
	case a.err == nil:
		c.succeeded(a.change)
		c.follow(a.change, a.revision)
		return true
	case errors.Is(a.err, coord.ErrConflict):
		c.log.Debug("a commit met a conflict; its step decides again", zap.String("step", a.change.Step), zap.Error(a.err))
		c.stale = true
		if len(a.struck) == 0 || len(a.struck) == culprits {
			c.meet(a.change.Step, a.err, firstPause, lastPause, freeTries)
		}
	default:
		c.rememberUnsure(a)
		c.failed(a.change.Step, a.err)
	}
	return false
}

// forgoCompletion gives up saying how a run has ended, where that node may not be written.
// The record of the run goes without it: otherwise the item would never run again.
func (c *controller) forgoCompletion(s strike) {
	run := s.part.Ends
	if conflict, ok := errors.AsType[*coord.ConflictError](s.err); !ok || run == nil || conflict.Op.Path != c.job.Completion(run.Item) {
		return
	}
	run.Untold = true
	if n := c.logged.untold.Add(1); n > 0 {
		c.log.Warn("the tree cannot be told how runs have ended", zap.Int("runs", n), zap.Error(brief.Error(s.err)))
	}
}

// follow does what follows from a committed change: it drops runs whose records were
// removed, notes misfire flags, tells observers of ticks that were skipped,
// and begins what was claimed. token is the number of the commit.
func (c *controller) follow(change decide.Change, token int64) {
	for _, p := range change.Parts {
		if p.Ends != nil {
			c.dropEnded(p.Ends)
			c.unended = slices.DeleteFunc(c.unended, func(r *decide.Run) bool { return r == p.Ends })
		}
		if p.Misfires != nil {
			p.Misfires.Marked = true
		}
		if p.Skips != nil {
			c.reportSkipped(p.Item, *p.Skips)
		}
		if p.Skips != nil || p.Claim != nil {
			c.isSure(p.Item)
		}
		if p.Late != nil {
			c.reportLate(p.Late)
		}
	}
	if claims := change.Claims(); len(claims) > 0 {
		c.begins(claims, token)
	}
}

// succeeded ends the troubles of a committed change. But a part that only corrects, and has
// to be corrected again and again, gets trouble of its own (heals): it has to wait.
func (c *controller) succeeded(change decide.Change) {
	over := func(name string) {
		if change.Heals && c.heals.done(name, c.moment()) {
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

// failed takes in an error of the store. The step has to wait, longer each time. The view
// catches up before the next pass. If the outcome is unknown, settle looks at once for a
// claim that happened.
func (c *controller) failed(step string, err error) {
	if c.session.Context().Err() != nil {
		return
	}
	c.stale = true
	c.suspicious = c.suspicious || errors.Is(err, coord.ErrUnknownOutcome)
	c.log.Debug("a request to the store has failed; its step is tried again", zap.String("step", step), zap.Error(err))
	c.meet(step, err, firstPause, lastPause, 0)
}

// meet notes trouble of a step, or of a part of one. The controller will wake up for the
// next attempt.
func (c *controller) meet(name string, err error, first, last time.Duration, free int) {
	now := c.moment()
	t := c.troubles.meet(name, err, now, first, last, free)
	t.pass = c.passes
	if t.waits(now) {
		c.wakeIn(t.until.Sub(now))
	}
}

// catchUp waits until the view holds all that was committed before the call.
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
