package engine

import (
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/strategy"
)

const (
	// firstWeighing and lastWeighing bound the time until a strategy that wants loads is asked
	// again. It doubles each time that nothing moves. In the first one all processes have announced
	// what they have after the last assignment.
	firstWeighing = 2 * pool.AnnounceEvery
	lastWeighing  = 10 * time.Minute
)

// weigher returns a function that fills in the loads of the instances in a question; nil if
// the strategy does not want them. It may run while the controller goes on.
func (c *controller) weigher(w *decide.World) func([]strategy.Instance) {
	if !strategy.WantsLoads(c.settings.strategy) {
		return nil
	}
	own := map[string]int{}
	for i := range w.Items {
		if owner := w.Items[i].Owner; owner != nil {
			own[owner.ID]++
		}
	}
	process := make(map[string]string, len(w.Instances))
	for id := range w.Instances {
		process[id] = w.Session(id).NodeID
	}
	ctx, reg, loads, job := c.session.Context(), c.reg, c.pool.Loads, string(c.job)
	self, here := c.self.ID, c.pool.Items.Others()
	return func(instances []strategy.Instance) {
		loads.Refresh(ctx, reg)
		for k, in := range instances {
			switch id := process[in.ID]; {
			case in.ID == self:
				instances[k].Load = here
			case id != "":
				instances[k].Load = loads.Of(id, job, own[in.ID])
			}
		}
	}
}

// weighsAgain reports whether a strategy that wants loads is to be asked again, although nothing
// of the job has changed.
func (c *controller) weighsAgain(now clocks.Moment) bool {
	d := &c.dealt
	if !strategy.WantsLoads(c.settings.strategy) {
		return false
	}
	if left := d.weighAt.Sub(now); left > 0 {
		c.wakeIn(left)
		return false
	}
	return true
}

// weighLater notes when to ask again. moved is whether items were dealt now.
func (c *controller) weighLater(now clocks.Moment, moved bool) {
	d := &c.dealt
	if !strategy.WantsLoads(c.settings.strategy) {
		return
	}
	d.weighPause = min(2*d.weighPause, lastWeighing)
	if moved || d.weighPause == 0 {
		d.weighPause = firstWeighing
	}
	d.weighAt = now.Add(d.weighPause)
	c.wakeIn(d.weighPause)
}

// noteDeal notes which processes get other items by an answer, for other jobs that deal now.
func (c *controller) noteDeal(w *decide.World, owners []string) {
	more := map[string]int{}
	for i, to := range owners {
		if item := w.Item(i); !item.Owner.Is(to) {
			more[w.Session(to).NodeID]++
			if item.Owner != nil {
				more[w.Session(item.Owner.ID).NodeID]--
			}
		}
	}
	if len(more) > 0 {
		c.pool.Loads.Assigned(string(c.job), more)
	}
}

// announceProcess has the process tell how many items its jobs have.
func (c *controller) announceProcess(w *decide.World) error {
	if c.pool.Announcement == nil {
		return nil
	}
	again, err := c.pool.Announcement.Announce(c.session, c.reg, c.pool.Items.All(), w.Moment)
	if again > 0 {
		c.wakeIn(again)
	}
	if err != nil {
		c.log.Debug("other processes are not told how many items this one has", zap.Error(brief.Error(err)))
	}
	return nil
}
