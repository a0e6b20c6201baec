package assign

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/strategy"
)

const (
	// firstLoadsPause and maxLoadsPause bound the time until a strategy that wants loads is asked again. It doubles
	// each time that nothing moves. Within the first one all processes have announced what they have after the last
	// assignment.
	firstLoadsPause = 2 * pool.AnnounceEvery
	maxLoadsPause   = 10 * time.Minute
)

// loadFiller returns a function that fills in the loads of the instances in a question; nil if the
// strategy does not want them. The function runs in the goroutine of the question.
func (a *Assigner) loadFiller(ctx context.Context, w *decide.World, s Strategy) func([]strategy.Instance) {
	if !strategy.WantsLoads(s.Strategy) {
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
	reg, loads, job := a.config.Registry, a.config.Pool.Loads, string(w.Job)
	self, here := w.Self.ID, a.config.Pool.Items.Others()
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

// loadsAreDue reports whether a strategy that wants loads is to be asked again, although nothing
// of the job has changed.
func (a *Assigner) loadsAreDue(now clocks.Moment, s Strategy) bool {
	if !strategy.WantsLoads(s.Strategy) {
		return false
	}
	if left := a.assigned.loadsDueAt.Sub(now); left > 0 {
		a.config.WakeIn(left)
		return false
	}
	return true
}

// scheduleLoads sets when loadsAreDue is true again. moved is whether items were assigned now.
func (a *Assigner) scheduleLoads(now clocks.Moment, s Strategy, moved bool) {
	if !strategy.WantsLoads(s.Strategy) {
		return
	}
	d := &a.assigned
	d.loadsPause = min(2*d.loadsPause, maxLoadsPause)
	if moved || d.loadsPause == 0 {
		d.loadsPause = firstLoadsPause
	}
	d.loadsDueAt = now.Add(d.loadsPause)
	a.config.WakeIn(d.loadsPause)
}

// noteMoves notes which processes get other items by an answer, for other jobs of this process that assign
// theirs now.
func (a *Assigner) noteMoves(w *decide.World, owners []string) {
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
		a.config.Pool.Loads.Assigned(string(w.Job), more)
	}
}
