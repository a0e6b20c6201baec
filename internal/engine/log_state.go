package engine

import (
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
)

// logState is what the log has said, so that it says only what is new.
type logState struct {
	made     health.RateLimit // ticks that were made up: logClaimed
	restored health.RateLimit // records of runs that were put back: restore
	untold   health.RateLimit // ends of runs that the tree cannot be told: forgoCompletion
	lost     health.RateLimit // triggers that nobody will obey: logLost
	failover takenOver        // logClaimed, logTakenOver
}

// takenOver are the runs that this instance has taken over and that the log has not told of
// yet. After a crash there may be thousands, a few at a time.
type takenOver struct {
	items []int // some of them
	count int
	to    string // this instance
	token int64  // of the last one
	told  clocks.Moment
}

const (
	// takenOverEvery is the shortest time between two lines about runs that were taken over.
	takenOverEvery = 5 * time.Second
	// maxTakenOver bounds the items of that line.
	maxTakenOver = 20
)

func (t *takenOver) add(items []int, to string, token int64) {
	t.items = append(t.items, items[:min(len(items), maxTakenOver-len(t.items))]...)
	t.count += len(items)
	t.to, t.token = to, token
}

// logTakenOver logs the runs that were taken over since its last line. If that was not long
// ago, it does so in a later pass, unless atOnce is set.
func (c *controller) logTakenOver(atOnce bool) {
	t := &c.logged.failover
	if t.count == 0 {
		return
	}
	now := clocks.Now()
	if left := takenOverEvery - now.Sub(t.told); left > 0 && !t.told.IsZero() && !atOnce {
		c.wakeIn(left)
		return
	}
	c.log.Info("took over", someItems("items", t.items), zap.Int("runs", t.count), zap.String("to", t.to), zap.Int64("token", t.token))
	*t = takenOver{told: now}
}

// logRecovered logs the items whose runs were cut short, in one line for each instance that
// has ended.
func (c *controller) logRecovered(orphans []decide.Orphan) {
	byOwner, taskIDs := map[string][]int{}, map[string][]string{}
	for _, o := range orphans {
		byOwner[o.Runner] = append(byOwner[o.Runner], o.Item)
		taskIDs[o.Runner] = append(taskIDs[o.Runner], o.TaskID(c.job))
	}
	for owner, items := range byOwner {
		c.reportRecovered(owner, items, taskIDs[owner])
		c.log.Info("recovered", zap.String("from", short(owner)), someItems("items", items), zap.Bool("failover", c.settings.Failover))
	}
}

// logClaimed logs the claims that take over runs of others, and those that make up for
// missed ticks. missed is how many ticks each claim leaves behind: see missedBy.
func (c *controller) logClaimed(claims []decide.Claim, missed []int, token int64) {
	var again, made []int
	ticks := 0
	for n, claim := range claims {
		switch {
		case claim.Source == decide.Failover:
			again = append(again, claim.Item)
		case missed[n] > 0 && c.makesUp(&claim):
			made = append(made, claim.Item)
			ticks += missed[n]
		}
	}
	if len(again) > 0 {
		c.logged.failover.add(again, c.self.ID, token)
		c.logTakenOver(false)
	}
	if len(made) == 0 {
		return
	}
	// At a limited rate, because an item whose runs take longer than the time between two ticks makes
	// up after each run.
	if ticks := c.logged.made.Add(ticks); ticks > 0 {
		c.log.Info("made up", someItems("items", made), zap.Int("ticks", ticks))
	}
}

// makesUp reports whether a claim of the schedule makes up for the ticks that it leaves behind. A run that is on
// time does so if misfire is on; otherwise they are skipped.
func (c *controller) makesUp(claim *decide.Claim) bool {
	return claim.Source == decide.Misfire || c.settings.rules.Misfire
}

// missedBy returns how many ticks each claim leaves behind that its item has missed: of a make-up also the tick
// that it is for, of a run that is on time those before.
func (c *controller) missedBy(claims []decide.Claim) []int {
	missed := make([]int, len(claims))
	var last decide.Claim
	ticks := 0
	for n, claim := range claims {
		if claim.Source != decide.Normal && claim.Source != decide.Misfire {
			continue
		}
		if ticks == 0 || !claim.Before.Equal(last.Before) || !claim.Tick.Equal(last.Tick) { // mostly they are the same
			last, ticks = claim, c.ticksBetween(claim.Before, claim.Tick)
		}
		if missed[n] = ticks; claim.Source == decide.Normal {
			missed[n]--
		}
	}
	return missed
}

// maxCounted bounds the ticks that are counted for a log line.
const maxCounted = 1000

// ticksBetween counts the ticks after one time and up to another: 1 at least, maxCounted at
// most. Those of the schedule before count as one.
func (c *controller) ticksBetween(after, last time.Time) int {
	ticks := c.settings.rules.Ticks
	if ticks == nil || after.IsZero() {
		return 1
	}
	n := 0
	if s := c.state.Schedule; s != nil && after.Before(s.Since) {
		if s.LastBefore.After(after) {
			n = 1
		}
		after = s.Since
	}
	for at := ticks.Next(after); !at.IsZero() && !at.After(last) && n < maxCounted; at = ticks.Next(at) {
		n++
	}
	return max(n, 1)
}

const triggerLost = "trigger lost: its instance ended before it obeyed"

// logLost logs triggers that nobody will obey.
func (c *controller) logLost(triggers int, about ...zap.Field) {
	if n := c.logged.lost.Add(triggers); n > 0 {
		c.log.Warn(triggerLost, append(about, zap.Int("triggers", n))...)
	}
}

// logUnobeyed logs the trigger that this instance has not obeyed and has removed with its
// nodes, because there is nobody to obey it instead.
func (c *controller) logUnobeyed(w *decide.World) {
	trigger, there := w.Triggers[c.self.ID]
	if !there || w.OthersObey() {
		return
	}
	c.log.Warn(triggerLost, someItems("items", w.Triggered(trigger)), zap.String("request", short(trigger.ID)))
}
