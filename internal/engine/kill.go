package engine

import (
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// kill ends the runs here that operators want to end. It writes nothing: finish does, when
// they have ended.
func (c *controller) kill(w *decide.World) error {
	var waiting []*run
	for i := range w.Kills {
		r := c.runs[i]
		if r == nil || r.Instance != c.self.ID || !w.Killed(&r.Run) {
			continue
		}
		switch r.phase {
		case queued:
			waiting = append(waiting, r)
		case executing:
			if !r.killed {
				r.cancel(ErrKilled)
			}
		case done:
			continue
		}
		if !r.killed {
			c.log.Info("killed", zap.Int("item", i), zap.Int64("token", r.Token), zap.String("by", short(w.Kills[i].By)), zap.Bool("failover", w.Kills[i].Failover))
			c.reportCommand(Event{Command: jobtype.CommandKill, Items: []int{i}, Execution: Execution{Token: r.Token}, By: short(w.Kills[i].By)})
		}
		r.killed = true
	}
	c.unqueueSome(waiting)
	for _, r := range waiting {
		r.begun = c.instant()
		r.ending = ending{outcome: OutcomeKilled, err: ErrKilled, text: ErrKilled.Error(), at: r.begun}
		r.Completed = completionOf(r)
		c.isDone(r)
		c.reportFinished(r, r.ending, nil)
	}
	return nil
}
