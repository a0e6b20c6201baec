package clocks

import "time"

// Condition remembers since when a condition has held without a break. The zero Condition does not
// hold.
type Condition struct{ since Moment }

// Track notes whether the condition holds now, and returns for how long it has.
func (c *Condition) Track(holds bool, now Moment) time.Duration {
	switch {
	case !holds:
		c.since = Moment{}
		return 0
	case c.since.IsZero():
		c.since = now
	}
	return now.Sub(c.since)
}
