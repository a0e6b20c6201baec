package engine

import (
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// kill ends the runs here that operators want to end. It writes nothing: finish does, when they have ended.
func (c *controller) kill(w *decide.World) error {
	var waiting []*run
	for i := range w.Kills {
		r := c.runs[i]
		if r == nil || r.phase == exec.Done || r.Instance != c.self.ID || !w.Killed(&r.Run) {
			continue
		}
		switch r.phase {
		case exec.Queued:
			waiting = append(waiting, r)
		case exec.Executing:
			if !r.killed {
				r.cancel(jobtype.ErrKilled)
				r.signals.EndContext(jobtype.ErrKilled, c.instant())
			}
		}
		if !r.killed {
			c.log.Info("killed", zap.Int("item", i), zap.Int64("token", r.Token), zap.String("by", brief.Text(w.Kills[i].By)), zap.Bool("failover", w.Kills[i].Failover))
			c.reporter.Command(c.self.ID, jobtype.Event{Command: jobtype.CommandKill, Items: []int{i}, Execution: jobtype.Execution{Token: r.Token}, By: brief.Text(w.Kills[i].By)})
		}
		r.killed = true
	}
	c.removeFromQueue(waiting)
	for _, r := range waiting {
		r.begun = c.instant()
		r.ending = exec.Ending{Outcome: jobtype.OutcomeKilled, Err: jobtype.ErrKilled, Text: jobtype.ErrKilled.Error(), At: r.begun}
		r.Completed = completionOf(r)
		c.markDone(r)
		c.reporter.Killed(&r.Run)
	}
	return nil
}

// askToStop tells the handlers that ask (StopAsked) whether their items are to go on here. It
// writes nothing. The strategy is asked only if somebody wants to know.
func (c *controller) askToStop(w *decide.World) error {
	var asking []*run
	for _, r := range c.runs {
		if r.phase == exec.Executing && r.signals.Asks() {
			asking = append(asking, r)
		}
	}
	if len(asking) == 0 {
		return nil
	}
	if c.isLeaving() {
		for _, r := range asking {
			r.signals.Stop(jobtype.ErrShutdown)
		}
		return nil
	}
	owners, _ := c.desired(w) // if the strategy fails, the leader reports it, and nothing moves
	for _, r := range asking {
		var reason error
		switch w.Stop(c.work, &r.Run, owners) {
		case decide.Moves:
			reason = jobtype.ErrItemMoves
		case decide.Disabled:
			reason = jobtype.ErrDisabled
		}
		r.signals.Stop(reason)
	}
	return nil
}
