package engine

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/pace"
)

// firePortion is how many items claims are made for at a time.
const firePortion = 120

// failOver claims items that await failover; beside JVM members when it is this instance's turn.
func (c *controller) failOver(w *decide.World) error {
	changes := w.FailOver(c.work, c.pool.Threads.Reserve(min(len(w.FailoverItems), c.idle())))
	if w.IsMixed() {
		c.failoverQueue.FailOver(c.session.Context(), w, changes)
		return nil
	}
	c.failoverQueue.Leave()
	c.commits.All(changes)
	return nil
}

// fire claims the items that are due, and those that may be claimed early for the next tick. Without
// MonitorExecution nothing is committed, and the items begin at once.
func (c *controller) fire(w *decide.World) error {
	if !c.settings.Rules.Monitor {
		before := c.unmonitored.Last
		var claims []decide.Claim
		claims, c.unmonitored = w.FireUnmonitored(c.work, c.unmonitored)
		for i := range claims {
			claims[i].Before = before
		}
		c.enqueue(claims, 0)
		return nil
	}
	if left := w.JVMReshardWait(); left > 0 {
		c.wakeIn(left)
		return nil
	}
	isHeld := c.heldForRebalance(w)
	isPostponed := func(d decide.Due) bool { return w.CanHold(d) && isHeld(d.Item) }
	due := slices.DeleteFunc(w.Due(c.work), isPostponed)
	late := len(due)
	due = append(due, slices.DeleteFunc(w.Early(c.work), isPostponed)...)
	if w.Dirty == nil {
		c.backlog = nil
	}
	free := c.pool.Threads.Reserve(min(len(due), c.claimable()))
	if free > 0 && late > 0 {
		waits, err := c.openTicks(w, due)
		if waits || err != nil {
			maps.Copy(c.work.Waiting, w.StillWaiting(c.work, due[:late], 0))
			return err
		}
	}
	c.addToBacklog(due, free)
	c.commits.Each(func(yield func(decide.Change) bool) {
		// In portions, so that the first claim is sent before the last one is made.
		for some := range slices.Chunk(due[:min(len(due), max(free, 0))], firePortion) {
			for _, change := range w.Fire(some, len(some)) {
				if !yield(change) {
					return
				}
			}
		}
	})
	c.noteAllClaimed(w)
	waiting := w.StillWaiting(c.work, due[:late], free) // before what has waited is forgotten
	if w.Dirty == nil && w.IsScheduleEffective() {
		clear(c.work.Waiting)
	}
	for _, d := range due {
		delete(c.work.Waiting, d.Item)
	}
	maps.Copy(c.work.Waiting, waiting)
	return nil
}

// heldForRebalance returns a function that reports whether an item that is due is held, because it is to
// move to another instance. The strategy is asked only if an item has run here just now. If it fails, the
// leader reports it, and nothing is held.
func (c *controller) heldForRebalance(w *decide.World) func(item int) bool {
	owners := sync.OnceValue(func() []string {
		owners, _ := c.desired(w)
		return owners
	})
	return func(item int) bool {
		if !w.MayHoldForRebalance(c.work, item) {
			return false
		}
		left := w.HoldForRebalance(c.work, item, owners())
		if left > 0 {
			c.wakeIn(left)
		}
		return left > 0
	}
}

// noteAllClaimed sets allClaimedFor if all items of this instance are claimed for a tick to come: then that tick
// needs no full pass when it comes, nor when it may be claimed early.
func (c *controller) noteAllClaimed(w *decide.World) {
	c.allClaimedFor = time.Time{}
	items := c.items()
	if len(items) == 0 || len(c.queue) < len(items) {
		return
	}
	tick := time.Time{}
	for _, i := range items {
		r := c.runs[i]
		if r == nil || !c.isEarly(r, w.Now) || !tick.IsZero() && !r.Tick.Equal(tick) {
			return
		}
		tick = r.Tick
	}
	c.allClaimedFor = tick
}

// releaseClaims releases claims that have waited too long for a thread, and claims that this instance may
// not begin any more.
func (c *controller) releaseClaims(w *decide.World) error {
	var back []*run
	for _, r := range c.queue {
		left, isOver := c.queueTimeLeft(w, r)
		if !isOver {
			if r.Recorded && !c.isEarly(r, w.Now) { // dispatch sees to it when its tick has come
				c.wakeIn(left)
			}
			continue
		}
		back = append(back, r)
	}
	c.releaseRuns(w, back)
	return nil
}

// releaseRuns takes runs out of the queue and releases their claims.
func (c *controller) releaseRuns(w *decide.World, back []*run) {
	c.removeFromQueue(back)
	var claimed []*decide.Run
	for _, r := range back {
		c.endUnstarted(r, errReleased)
		if !r.Recorded {
			c.forgetRun(r)
			c.addUnrecordedEnd(r)
			continue
		}
		claimed = append(claimed, &r.Run)
		if r.Source == decide.Normal {
			c.work.Waiting[r.Item] = r.Tick
		}
	}
	c.commits.All(w.ReleaseClaims(claimed))
}

// releaseEarly releases the claims whose tick has not come. It reports whether there are any that the view
// does not show yet, so that they cannot be released.
func (c *controller) releaseEarly(w *decide.World) (isBehind bool) {
	var back []*run
	for _, r := range c.queue {
		switch {
		case !c.isEarly(r, w.Now):
		case w.RecordOwner(&r.Run) == decide.ViewBehind:
			isBehind = true
		default:
			back = append(back, r)
		}
	}
	c.releaseRuns(w, back)
	return isBehind
}

// noteClaims notes how long the store took for claims that could be made when their tick, less the lead, had come, and a
// thread was free; or in this pass, with the end of a run.
func (c *controller) noteClaims(claims []decide.Claim) {
	now, lead, idle := c.now(), c.current.Lead, c.pace.Idle(c.moment())
	for i := range claims {
		if claim := &claims[i]; claim.Source == decide.Normal && c.claims.Set == nil {
			next := c.current.Ticks().Next(claim.Tick)
			possible := claim.Tick.Add(-min(lead, next.Sub(claim.Tick)/2))
			took := min(now.Sub(possible), idle)
			if took < 0 {
				took = c.moment().Sub(c.current.Moment)
			}
			c.claims.Took(claim.Tick, next, took)
		}
	}
}

// isEarly reports whether a run was claimed early and has to wait for its tick.
func (c *controller) isEarly(r *run, now time.Time) bool {
	ahead := r.Tick.Sub(now)
	return r.Recorded && ahead > 0 && ahead <= c.claims.Most()
}

// queueTimeLeft returns how much longer a claim may wait for a thread, and whether its time is over. A
// claim without records may wait as long as this instance may run the item.
func (c *controller) queueTimeLeft(w *decide.World, r *run) (left time.Duration, isOver bool) {
	if !r.Recorded {
		item := w.Item(r.Item)
		return 0, !w.IsActive() || !item.Owner.Is(c.self.ID)
	}
	if w.RecordOwner(&r.Run) != decide.Ours {
		return pace.QueueTime, false
	}
	if held := c.heldUntil(r, w.Now); !held.IsZero() {
		return held.Sub(w.Now) + pace.QueueTime, !w.IsActive()
	}
	if c.isEarly(r, w.Now) {
		left = r.Tick.Sub(w.Now)
		return left + pace.QueueTime, r.Source == decide.Normal && !w.MayKeepEarlyClaim(&r.Run)
	}
	waited := r.waited(clocks.Instant{Wall: w.Now, Mono: w.Moment})
	isSetBack := waited < 0
	return pace.QueueTime - waited, isSetBack || waited >= pace.QueueTime || !w.IsActive()
}

// waited returns for how long a run has waited for a thread. It is negative if the run was
// claimed early and its tick has not come: the clock was set back.
func (r *run) waited(now clocks.Instant) time.Duration {
	if r.Recorded && r.Tick.After(r.claimed.Wall) {
		return min(now.Wall.Sub(r.Tick), now.Mono.Sub(r.claimed.Mono))
	}
	if r.heldAt.After(r.claimed.Mono) {
		return now.Mono.Sub(r.heldAt)
	}
	return now.Mono.Sub(r.claimed.Mono)
}

// errReleased is the error of a run that was released before its handler was called.
var errReleased = errors.New("job: claim released")
