package job

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// story is what the log has said about this instance, so that the log says only what is new.
type story struct {
	id     string    // that has joined: tell
	leader bool      // it leads: tell
	items  []int     // it owns: tell
	paused bool      // the job is: tell
	made   refrain   // ticks that were made up: tellClaimed
	mended refrain   // records of runs that were put back: mend
	unsaid refrain   // ends of runs that the tree cannot be told: forgoCompletion
	lost   refrain   // triggers that nobody will obey: tellLost
	over   takenOver // tellClaimed, tellTakenOver
}

// refrain is a log line that would come again and again. It comes seldom, with a count of
// what has happened since the last time.
type refrain struct {
	count int
	told  clocks.Moment
}

// refrainEvery is the shortest time between two such lines.
const refrainEvery = time.Minute

// add counts n more. It returns the count for a line that is to be logged now, or 0 if it is
// too early for one.
func (r *refrain) add(n int) int {
	r.count += n
	now := clocks.Now()
	if !r.told.IsZero() && now.Sub(r.told) < refrainEvery {
		return 0
	}
	n, r.count, r.told = r.count, 0, now
	return n
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

// tellTakenOver logs the runs that were taken over since its last line. If that was not long
// ago, it does so in a later pass, unless atOnce is set.
func (c *controller) tellTakenOver(atOnce bool) {
	t := &c.story.over
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

// tell logs what has changed about this instance: that it has joined, whether it leads, and
// which items it has gained or lost. In steady state it logs nothing.
func (c *controller) tell(s Status) {
	c.tellTakenOver(s.Leaving || s.InstanceID != c.story.id)
	if s.Leaving {
		return // whoever made it leave has logged that
	}
	if s.Registered && c.story.id != s.InstanceID {
		c.story = story{id: s.InstanceID}
		now := c.now()
		fields := []zap.Field{zap.String("instance", s.InstanceID), zap.Int("items", c.settings.ShardingTotalCount)}
		if ticks := c.settings.rules.Ticks; ticks != nil {
			fields = append(fields,
				zap.String("cron", short(c.settings.Cron)), zap.Stringer("zone", c.settings.zone),
				zap.Time("next tick", ticks.Next(now)))
		}
		c.log.Info("joined", fields...)
	}
	if !s.Registered {
		return
	}
	if s.Leader != c.story.leader {
		c.story.leader = s.Leader
		if s.Leader {
			c.log.Info("leads", zap.String("instance", s.InstanceID))
		} else {
			c.log.Info("leads no more", zap.String("instance", s.InstanceID))
		}
	}
	if isPaused := !s.Paused.Since.IsZero(); isPaused != c.story.paused {
		c.story.paused = isPaused
		if isPaused {
			c.log.Info("paused: no tick begins until the job is resumed", zap.Time("since", s.Paused.Since), zap.String("by", s.Paused.By), zap.String("why", s.Paused.Why))
		} else {
			c.log.Info("resumed")
		}
	}
	if slices.Equal(s.Items, c.story.items) {
		return
	}
	gained, lost := differ(c.story.items, s.Items)
	c.story.items = s.Items
	c.log.Info("items changed", someItems("gained", gained), someItems("lost", lost), zap.Int("has", len(s.Items)))
}

// differ compares two ascending lists of items.
func differ(before, after []int) (gained, lost []int) {
	for _, i := range after {
		if _, had := slices.BinarySearch(before, i); !had {
			gained = append(gained, i)
		}
	}
	for _, i := range before {
		if _, has := slices.BinarySearch(after, i); !has {
			lost = append(lost, i)
		}
	}
	return gained, lost
}

// tellRecovered logs the items whose runs were cut short, in one line for each instance that
// has ended.
func (c *controller) tellRecovered(orphans []decide.Orphan) {
	byOwner, taskIDs := map[string][]int{}, map[string][]string{}
	for _, o := range orphans {
		byOwner[o.Runner] = append(byOwner[o.Runner], o.Item)
		taskIDs[o.Runner] = append(taskIDs[o.Runner], o.TaskID(c.job))
	}
	for owner, items := range byOwner {
		c.observeRecovery(owner, items, taskIDs[owner])
		c.log.Info("recovered", zap.String("from", short(owner)), someItems("items", items), zap.Bool("failover", c.settings.Failover))
	}
}

// tellClaimed logs the claims that take over runs of others, and those that make up for
// missed ticks. missed is how many ticks each claim leaves behind: see missedBy.
func (c *controller) tellClaimed(claims []decide.Claim, missed []int, token int64) {
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
		c.story.over.add(again, c.self.ID, token)
		c.tellTakenOver(false)
	}
	if len(made) == 0 {
		return
	}
	// A refrain, because an item whose runs take longer than the time between two ticks makes
	// up after each run.
	if ticks := c.story.made.add(ticks); ticks > 0 {
		c.log.Info("made up", someItems("items", made), zap.Int("ticks", ticks))
	}
}

// makesUp reports whether a claim of the schedule makes up for the ticks that it leaves behind. A run that is on
// time does so if misfire is on; otherwise they are passed over.
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

// tellLost logs triggers that nobody will obey.
func (c *controller) tellLost(triggers int, about ...zap.Field) {
	if n := c.story.lost.add(triggers); n > 0 {
		c.log.Warn(triggerLost, append(about, zap.Int("triggers", n))...)
	}
}

// tellUnobeyed logs the trigger that this instance has not obeyed and has removed with its
// nodes, because there is nobody to obey it instead.
func (c *controller) tellUnobeyed(w *decide.World) {
	trigger, there := w.Triggers[c.self.ID]
	if !there || w.OthersObey() {
		return
	}
	say(func() {
		c.log.Warn(triggerLost, someItems("items", w.Triggered(trigger)), zap.String("request", short(trigger.ID)))
	})
}
