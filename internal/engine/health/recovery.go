package health

import (
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// failovers are the runs that this instance has failed over and that are not logged yet. After a crash
// there may be thousands, a few at a time.
type failovers struct {
	items []int // some of them
	count int
	to    string // this instance
	token int64  // of the last one
	told  clocks.Moment
}

const (
	// failoverEvery is the shortest time between two lines about runs that were failed over.
	failoverEvery = 5 * time.Second
	// maxFailovers bounds the items of that line.
	maxFailovers = 20
)

func (t *failovers) add(items []int, to string, token int64) {
	t.items = append(t.items, items[:min(len(items), maxFailovers-len(t.items))]...)
	t.count += len(items)
	t.to, t.token = to, token
}

// LogFailovers logs the runs that were failed over since its last line. If that was not long ago, it does
// so in a later pass, unless this instance leaves, or has become another one, self.
func (r *Reporter) LogFailovers(self string, leaving bool) {
	t := &r.failovers
	if t.count == 0 {
		return
	}
	now := clocks.Now()
	if left := failoverEvery - now.Sub(t.told); left > 0 && !t.told.IsZero() && !leaving && t.to == self {
		r.config.WakeIn(left)
		return
	}
	r.log.Info("took over", zap.String("items", brief.Items(t.items)), zap.Int("runs", t.count), zap.String("to", t.to), zap.Int64("token", t.token))
	*t = failovers{told: now}
}

// LogClaims logs the claims that are failovers, and those that make up for missed ticks. missed is how
// many ticks each claim leaves behind: see MissedBy.
func (r *Reporter) LogClaims(w *decide.World, claims []decide.Claim, missed []int, token int64) {
	var again, made []int
	ticks := 0
	for n, claim := range claims {
		switch {
		case claim.Source == decide.Failover:
			again = append(again, claim.Item)
		case missed[n] > 0 && makesUp(w, &claim):
			made = append(made, claim.Item)
			ticks += missed[n]
		}
	}
	if len(again) > 0 {
		r.failovers.add(again, w.Self.ID, token)
		r.LogFailovers(w.Self.ID, false)
	}
	if len(made) == 0 {
		return
	}
	// At a limited rate, because an item whose runs take longer than the time between two ticks makes
	// up after each run.
	if ticks := r.madeUp.Add(ticks); ticks > 0 {
		r.log.Info("made up", zap.String("items", brief.Items(made)), zap.Int("ticks", ticks))
	}
}

// Recovered tells of items whose runs were cut short: one event, and one line, for each instance that has ended.
func (r *Reporter) Recovered(w *decide.World, orphans []decide.Orphan) {
	byOwner, taskIDs := map[string][]int{}, map[string][]string{}
	for _, o := range orphans {
		byOwner[o.Runner] = append(byOwner[o.Runner], o.Item)
		taskIDs[o.Runner] = append(taskIDs[o.Runner], o.TaskID(w.Job))
	}
	for owner, items := range byOwner {
		e := r.Event(jobtype.EventRecovered, w.Self.ID)
		e.From, e.Items, e.TaskIDs, e.Failover = brief.Text(owner), items, taskIDs[owner], w.Rules.Failover
		r.Tell(e)
		r.log.Info("recovered", zap.String("from", e.From), zap.String("items", brief.Items(items)), zap.Bool("failover", e.Failover))
	}
}

// Restored logs that records of runs are put back.
func (r *Reporter) Restored(runs int) {
	if n := r.restored.Add(runs); n > 0 {
		r.log.Warn("somebody else has removed or changed the records of runs; they are put back", zap.Int("runs", n))
	}
}

// Untold logs that the tree cannot be told how a run has ended.
func (r *Reporter) Untold(err error) {
	if n := r.untold.Add(1); n > 0 {
		r.log.Warn("the tree cannot be told how runs have ended", zap.Int("runs", n), zap.Error(brief.Error(err)))
	}
}

const triggerLost = "trigger lost: its instance ended before it obeyed"

// LostTrigger logs a trigger that nobody will take, because of an error.
func (r *Reporter) LostTrigger(err error) {
	if n := r.lost.Add(1); n > 0 {
		r.log.Warn(triggerLost, zap.Error(err), zap.Int("triggers", n))
	}
}

// LostOwnTrigger logs the trigger of this instance that was removed with its nodes, because there is
// nobody to take it.
func (r *Reporter) LostOwnTrigger(w *decide.World) {
	trigger, there := w.Triggers[w.Self.ID]
	if !there || w.OthersTakeTrigger() {
		return
	}
	r.log.Warn(triggerLost, zap.String("items", brief.Items(w.Triggered(trigger))))
}
