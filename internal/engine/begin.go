package engine

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// firePortion is how many items claims are made for at a time.
const firePortion = 120

// failOver claims items that wait to be run again (failover).
func (c *controller) failOver(w *decide.World) error {
	changes := w.FailOver(c.work, c.pool.Threads.Reserve(min(len(w.FailoverItems), c.idle())))
	if w.IsMixed() {
		c.takeOverInTurn(w, changes)
		return nil
	}
	c.leaveQueue()
	c.commitAll(changes)
	return nil
}

// fire claims the items that are due. Without MonitorExecution it begins them at once.
func (c *controller) fire(w *decide.World) error {
	if !c.settings.rules.Monitor {
		before := c.unmonitored.Last
		var claims []decide.Claim
		claims, c.unmonitored = w.FireUnmonitored(c.work, c.unmonitored)
		for i := range claims {
			claims[i].Before = before
		}
		c.begins(claims, 0)
		return nil
	}
	if left := w.HeldForJVM(); left > 0 {
		c.wakeIn(left)
		return nil
	}
	isYielded := c.yielding(w)
	isLeft := func(d decide.Due) bool { return w.CanWait(d) && isYielded(d.Item) }
	due := slices.DeleteFunc(w.Due(c.work), isLeft)
	late := len(due)
	due = append(due, slices.DeleteFunc(w.Early(c.work), isLeft)...)
	if w.Narrow == nil {
		c.backlog = nil
	}
	free := c.pool.Threads.Reserve(min(len(due), c.claimable()))
	if free > 0 && late > 0 {
		waits, err := c.beginTicks(w, due)
		if waits || err != nil {
			maps.Copy(c.work.Waiting, w.StillWaiting(c.work, due[:late], 0))
			return err
		}
	}
	c.setAside(due, free)
	c.commitEach(func(yield func(decide.Change) bool) {
		// In portions, so that the first claim is sent before the last one is made.
		for some := range slices.Chunk(due[:min(len(due), max(free, 0))], firePortion) {
			for _, change := range w.Fire(some, len(some)) {
				if !yield(change) {
					return
				}
			}
		}
	})
	c.cover(w)
	waiting := w.StillWaiting(c.work, due[:late], free) // before what has waited is forgotten
	if w.Narrow == nil && w.IsInForce() {
		clear(c.work.Waiting)
	}
	for _, d := range due {
		delete(c.work.Waiting, d.Item)
	}
	maps.Copy(c.work.Waiting, waiting)
	return nil
}

// yielding returns whether an item that is due is left idle, because it is to move to another instance. The strategy
// is asked only if an item has run here just now. If it fails, the leader reports it, and nothing moves.
func (c *controller) yielding(w *decide.World) func(item int) bool {
	owners := sync.OnceValue(func() []string {
		owners, _ := c.desired(w)
		return owners
	})
	return func(item int) bool {
		if !w.MayYield(c.work, item) {
			return false
		}
		left := w.Yield(c.work, item, owners())
		if left > 0 {
			c.wakeIn(left)
		}
		return left > 0
	}
}

// markMisfire writes the misfire flag of items that still run when their next tick has come.
func (c *controller) markMisfire(w *decide.World) error {
	c.commitAll(w.MarkMisfire(c.work))
	return nil
}

// skip moves the fired records on over ticks that nobody is to run.
func (c *controller) skip(w *decide.World) error {
	c.commitAll(w.Skip(c.work))
	return nil
}

// cover notes whether all items of this instance are claimed for the next tick, so that no
// pass has to look for what that tick makes due.
func (c *controller) cover(w *decide.World) {
	if w.Narrow != nil {
		return
	}
	c.covered, _ = w.EarlyTick()
	if c.covered.IsZero() {
		return
	}
	for _, i := range c.items() {
		if r := c.runs[i]; r == nil || !r.Tick.Equal(c.covered) {
			c.covered = time.Time{}
			return
		}
	}
}

// releaseClaims gives up claims that have waited too long for a thread, and claims that this
// instance may not begin any more.
func (c *controller) releaseClaims(w *decide.World) error {
	var back []*run
	for _, r := range c.queue {
		left, isOver := c.mayWait(w, r)
		if !isOver {
			if r.Recorded {
				c.wakeIn(left)
			}
			continue
		}
		back = append(back, r)
	}
	c.giveBack(w, back)
	return nil
}

// giveBack gives up claims that wait in the queue.
func (c *controller) giveBack(w *decide.World, back []*run) {
	c.unqueueSome(back)
	var claimed []*decide.Run
	for _, r := range back {
		c.takeBack(r, errReleased)
		if !r.Recorded {
			c.drop(r)
			c.mustTell(r)
			continue
		}
		claimed = append(claimed, &r.Run)
		if r.Source == decide.Normal {
			c.work.Waiting[r.Item] = r.Tick
		}
	}
	c.commitAll(w.ReleaseClaims(claimed))
}

// giveBackEarly gives up the claims whose tick has not come. It reports whether there are any
// that the view does not show yet.
func (c *controller) giveBackEarly(w *decide.World) (isBehind bool) {
	var back []*run
	for _, r := range c.queue {
		switch {
		case !c.isEarly(r, w.Now):
		case w.Standing(&r.Run) == decide.Behind:
			isBehind = true
		default:
			back = append(back, r)
		}
	}
	c.giveBack(w, back)
	return isBehind
}

// isEarly reports whether a run was claimed early and has to wait for its tick.
func (c *controller) isEarly(r *run, now time.Time) bool {
	ahead := r.Tick.Sub(now)
	return r.Recorded && ahead > 0 && ahead <= c.options.Lead
}

// mayWait returns how much longer a claim may wait for a thread, and whether its time is
// over. A claim without records may wait as long as this instance may run the item.
func (c *controller) mayWait(w *decide.World, r *run) (left time.Duration, isOver bool) {
	if !r.Recorded {
		item := w.Item(r.Item)
		return 0, !w.IsActive() || !item.Owner.Is(c.self.ID)
	}
	if w.Standing(&r.Run) != decide.Ours {
		return queueTime, false
	}
	if held := c.heldUntil(r, w.Now); !held.IsZero() {
		return held.Sub(w.Now) + queueTime, !w.IsActive()
	}
	if c.isEarly(r, w.Now) {
		left = r.Tick.Sub(w.Now)
		return left + queueTime, r.Source == decide.Normal && !w.MayHold(&r.Run)
	}
	waited := r.waited(instant{w.Now, w.Moment})
	isSetBack := waited < 0
	return queueTime - waited, isSetBack || waited >= queueTime || !w.IsActive()
}

// waited returns for how long a run has waited for a thread. It is negative if the run was
// claimed early and its tick has not come: the clock was set back.
func (r *run) waited(now instant) time.Duration {
	if r.Recorded && r.Tick.After(r.claimed.wall) {
		return min(now.wall.Sub(r.Tick), now.mono.Sub(r.claimed.mono))
	}
	if r.released.After(r.claimed.mono) {
		return now.mono.Sub(r.released)
	}
	return now.mono.Sub(r.claimed.mono)
}

// errReleased is the error of a run that was released before its handler was called.
var errReleased = errors.New("job: claim released")
