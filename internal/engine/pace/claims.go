package pace

import "time"

// MaxLead bounds the lead: who crashes within it leaves claims to others.
const MaxLead = time.Second

// leads are how early items are claimed, if that adapts. They are few, so that jobs with the same ticks claim at the same moment and
// share commits.
var leads = [...]time.Duration{50 * time.Millisecond, 200 * time.Millisecond, MaxLead}

// enough is the time a claim may take at a tick without a lead.
const enough = 10 * time.Millisecond

// Claims is how long the claims of a job take of late, from when they could be made until the store has answered. When
// many jobs claim at one moment, the last of them wait for the others: then all claim that much earlier.
type Claims struct {
	// Set is the lead that the program has set; nil if it goes by how long claims take.
	Set *time.Duration

	longest time.Duration // it goes down by one part in 32 with each tick
	tick    time.Time     // the last one that was counted
}

// Took notes that a claim for a tick took so long. next is the tick after it. What takes longer than the time between
// the two is not counted: the process is behind its ticks, or the item was busy, and no lead makes up for that.
func (c *Claims) Took(tick, next time.Time, took time.Duration) {
	if tick.After(c.tick) {
		c.tick = tick
		c.longest -= c.longest / 32
	}
	if took < next.Sub(tick) {
		c.longest = max(c.longest, took)
	}
}

// Lead returns how long before its tick an item is to be claimed, if that is not set: at least twice as long as a claim
// takes, but not more than [MaxLead], and 0 if a claim takes a few milliseconds.
func (c *Claims) Lead() time.Duration {
	switch {
	case c.Set != nil:
		return *c.Set
	case c.longest < enough:
		return 0
	}
	for _, lead := range leads {
		if lead >= 2*c.longest {
			return lead
		}
	}
	return MaxLead
}

// NextLead returns how long before its tick an item is claimed by the commit that finishes its run before: as early as may
// be, if anything is claimed early, because that saves a commit.
func (c *Claims) NextLead() time.Duration {
	switch {
	case c.Set != nil:
		return *c.Set
	case c.Lead() > 0:
		return MaxLead
	}
	return 0
}

// Most returns the longest lead that there may have been.
func (c *Claims) Most() time.Duration {
	if c.Set != nil {
		return *c.Set
	}
	return MaxLead
}
