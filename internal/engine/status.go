package engine

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// publish shows others how this scheduler stands, and logs what has changed. w is nil while
// there is no session. After a partial pass only the runs can differ.
func (c *controller) publish(w *decide.World) {
	if w != nil && w.Dirty != nil {
		c.live.PublishRuns()
		return
	}
	s, ticks := jobtype.Status{InstanceID: c.self.ID, Leaving: c.isLeaving(), Differs: c.differs != "", Waiting: c.diagnosis.Waiting()}, c.settings.Rules.Ticks
	if w != nil {
		s.Registered, s.Enabled, s.Leader = w.IsRegistered(), w.ServerEnabled(c.self.IP), w.Leads()
		s.Items = c.items()
		s.Expired = w.HasExpired()
		s.Paused = health.PauseOf(w)
		c.reporter.LogFailovers(c.self.ID, s.Leaving)
		ticks = w.Ticks()
	}
	s.Faults = slices.AppendSeq(s.Faults, c.faults.Holding())
	c.live.Publish(s, ticks)
	c.live.PublishRuns()
	if s.Registered {
		c.started()
	}
}

// setRun notes that an item has a run here or has none any more.
func (c *controller) setRun(item int, r *run) {
	c.live.SetRunning(item, r != nil)
	if r == nil {
		delete(c.runs, item)
		delete(c.work.Runs, item)
		return
	}
	c.runs[item], c.work.Runs[item] = r, &r.Run
}

// fault notes that a fault holds, or with a nil err that it does not.
func (c *controller) fault(kind jobtype.FaultKind, err error) { c.faults.Set(c.self.ID, kind, err) }

// items lists the items that are assigned to this instance.
func (c *controller) items() []int {
	if !c.listed {
		c.owned, c.listed = nil, true
		for i := range c.state.Items {
			if c.state.Items[i].Owner.Is(c.self.ID) {
				c.owned = append(c.owned, i)
			}
		}
	}
	return c.owned
}

// countOwned counts the items that have an owner.
func countOwned(s *jobtree.State) (n int) {
	for i := range s.Items {
		if s.Items[i].Owner != nil {
			n++
		}
	}
	return n
}
