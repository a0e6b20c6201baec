package engine

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// openTicks fixes which items belong to the ticks that are due, before any of them is claimed, so that
// once-listeners can be told of these ticks. It reports whether the claims have to wait until the view shows that.
func (c *controller) openTicks(w *decide.World, due []decide.Due) (waits bool, err error) {
	if !c.settings.Rules.Once {
		return false, nil
	}
	for _, some := range w.ByTick(due) {
		tick := some[0].Tick
		change, tooMany, err := w.OpenTick(c.work, tick)
		if tooMany && !c.tooManyReportedFor.Equal(tick) {
			c.tooManyReportedFor = tick
			c.calls.ReportStarted(c.session.Context(), c.self.ID, c.settings, tick, c.self.ID, jobtype.ErrTooManyTicks)
		}
		if change != nil {
			c.commits.Commit(*change)
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// advanceTicks makes the calls of once-listeners that are for this instance to make. As the coordinator it
// also advances the ticks of which they are told.
func (c *controller) advanceTicks(w *decide.World) error {
	if c.calls.Advance(exec.WithOwner(c.session.Context(), c), w, c.settings, c.mayCall(w)) {
		c.flusher.FlushUnused()
	}
	if len(w.Guarantees) == 0 {
		return nil
	}
	if !c.isLeaving() {
		c.commits.All(w.AdvanceTicks())
	}
	if next := w.NextDeadline(); !next.IsZero() {
		c.wakeIn(max(next.Sub(w.Now.Add(-w.Clock.Ahead)), commit.MinPause))
	}
	return nil
}

// mayCall reports whether this instance may begin a call: it is in the tree, and has not tried
// to leave in one commit, whose answer may be lost. Otherwise others make the call.
func (c *controller) mayCall(w *decide.World) bool {
	return c.drainTime.Err() == nil && !c.triedOneCommit && w.Session(c.self.ID).Owner == c.self.Session
}

// reportLate tells that the caller of Started does not say that it has ended.
func (c *controller) reportLate(g *jobtree.Guarantee) {
	err := fmt.Errorf("%w: the instance does not say so either", jobtype.ErrListenerTimeout)
	c.calls.ReportStarted(c.session.Context(), c.self.ID, c.settings, g.Tick, g.Starter, err)
}

// heldUntil returns until when a run waits for Started of its tick; zero if it does not.
func (c *controller) heldUntil(r *run, now time.Time) time.Time {
	if !r.Recorded || len(c.state.Guarantees) == 0 {
		return time.Time{}
	}
	until := decide.HeldUntil(c.state, &r.Run)
	if until.IsZero() {
		return until
	}
	if until = until.Add(clockAt(c.reg.Clock(), now).Ahead); !now.Before(until) {
		return time.Time{}
	}
	return until
}
