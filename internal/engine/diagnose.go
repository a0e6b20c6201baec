package engine

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/diagnose"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// diagnose looks for what keeps the job from running. (look reports a configuration that is refused.)
func (c *controller) diagnose(w *decide.World) error {
	if state, _ := c.session.State(); state != coord.Lost { // enter tells of that, with the reason
		c.reporter.Session(c.self.ID, state, nil)
	}
	c.jvm.LogDifferences(w)
	c.fault(jobtype.FaultCalendar, c.schedule.Fault(c.job))
	if c.refused != 0 {
		c.wakeIn(max(c.retryRefusedAt.Sub(w.Moment), commit.MinPause))
	}
	c.diagnosis.Check(diagnose.Pass{
		World: w, Work: c.work, Settings: c.settings, Session: c.session, Refused: c.refused != 0, Leaving: c.isLeaving(),
		Threads: c.threads(), Runs: func() map[int]diagnose.Run { return c.runsOf(w) },
	})
	return nil
}

// runsOf returns the runs of this process as the diagnosis knows them.
func (c *controller) runsOf(w *decide.World) map[int]diagnose.Run {
	runs := make(map[int]diagnose.Run, len(c.runs))
	for i, r := range c.runs {
		isHeld := r.phase == exec.Queued && !c.heldUntil(r, w.Now).IsZero()
		runs[i] = diagnose.Run{Run: &r.Run, Phase: r.phase, Begun: r.begun.Wall, IsHeld: isHeld, Signals: &r.signals}
	}
	return runs
}
