package job

import (
	"slices"
	"time"

	"go.uber.org/zap"
)

// story is what the log has told of how this instance stands.
type story struct {
	id     string
	leader bool
	items  []int
	made   int       // ticks made up for since it was last told
	madeAt time.Time // when that was
}

// tell logs what has changed about this instance: that it has joined, leads, and which
// items it has got or lost. In steady state that is nothing.
func (c *controller) tell(s Status) {
	if s.Leaving {
		return // which has been told
	}
	if s.Registered && c.story.id != s.InstanceID {
		c.story = story{id: s.InstanceID}
		now := c.now()
		fields := []zap.Field{zap.String("instance", s.InstanceID), zap.Int("items", c.settings.ShardingTotalCount)}
		if c.settings.schedule != nil {
			fields = append(fields,
				zap.String("cron", short(c.settings.Cron)), zap.Stringer("zone", c.settings.zone),
				zap.Time("next tick", c.settings.schedule.Next(now)))
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
	if slices.Equal(s.Items, c.story.items) {
		return
	}
	gained, lost := differ(c.story.items, s.Items)
	c.story.items = s.Items
	c.log.Info("items changed", someItems("gained", gained), someItems("lost", lost), zap.Int("has", len(s.Items)))
}

// differ compares two ascending lists.
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

// tellRecovered logs the items whose runs were cut short, by their instances.
func (c *controller) tellRecovered(orphans []orphan) {
	byOwner := map[string][]int{}
	for _, o := range orphans {
		byOwner[o.owner] = append(byOwner[o.owner], o.item)
	}
	for owner, items := range byOwner {
		c.log.Info("recovered", zap.String("from", short(owner)), someItems("items", items), zap.Bool("failover", c.settings.Failover))
	}
}

// tellClaimed logs the runs that others have begun before, and those that make up for
// ticks that were missed.
func (c *controller) tellClaimed(runs []*run, token int64) {
	var again, made []int
	missed := 0
	for _, r := range runs {
		switch r.source {
		case Failover:
			again = append(again, r.item)
		case Misfire:
			made = append(made, r.item)
			missed += c.ticksBetween(r.before, r.last)
		}
	}
	if len(again) > 0 {
		c.log.Info("took over", someItems("items", again), zap.String("to", c.self.id), zap.Int64("token", token))
	}
	if len(made) == 0 {
		return
	}
	// An item that always runs for longer than the time between two ticks makes up for one
	// each time.
	c.story.made += missed
	if now := time.Now(); c.story.madeAt.IsZero() || now.Sub(c.story.madeAt) >= madeUpEvery {
		c.log.Info("made up", someItems("items", made), zap.Int("ticks", c.story.made))
		c.story.made, c.story.madeAt = 0, now
	}
}

// madeUpEvery is how often the log tells of ticks that were made up for.
const madeUpEvery = time.Minute

// maxCounted bounds the ticks that are counted for a log line.
const maxCounted = 1000

// ticksBetween counts ticks after one and up to another.
func (c *controller) ticksBetween(after, last time.Time) int {
	if c.settings.schedule == nil || after.IsZero() {
		return 1
	}
	n := 0
	for at := c.settings.schedule.Next(after); !at.IsZero() && !at.After(last) && n < maxCounted; at = c.settings.schedule.Next(at) {
		n++
	}
	return max(n, 1)
}
