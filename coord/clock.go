package coord

import "time"

// ClockPath is the node of a namespace that is written to read the clock of a store
// which has it only as the time of a write (ZooKeeper).
const ClockPath = "~elasticjob/clock"

// Clock is what a process knows of the clock of a store: how far it was from the local
// one when they were compared. From then on the local monotonic clock tells how time
// goes on, so that a step of the local wall clock shows at once, and nobody is asked. A
// step of the store's shows when they are compared again: within the hour if they agreed,
// within some 10 s to a minute if they did not.
// The zero value knows nothing.
type Clock struct {
	local       time.Time // of the comparison, with its monotonic reading
	store       time.Time // at that moment
	uncertainty time.Duration
	err         error
}

// NewClock returns the outcome of a comparison: at the local time, which is of time.Now,
// the store's clock showed the store time, give or take the uncertainty.
func NewClock(local, store time.Time, uncertainty time.Duration) Clock {
	return Clock{local: local, store: store.Round(0), uncertainty: uncertainty} // without a monotonic reading
}

// Failed returns the clock with the error of an attempt to compare it anew. What was
// known stays known.
func (c Clock) Failed(err error) Clock {
	c.err = err
	return c
}

// Known reports whether the clocks have ever been compared.
func (c Clock) Known() bool { return !c.local.IsZero() }

// Err is why the last comparison failed, or nil.
func (c Clock) Err() error { return c.err }

// Compared is the local time of the last comparison.
func (c Clock) Compared() time.Time { return c.local }

// Now is the store's time now. It is only good if the clock is Known.
func (c Clock) Now() time.Time { return c.store.Add(time.Since(c.local)) }

// Ahead returns how far a local time of this moment is certainly ahead of the store's:
// negative if it is behind, and 0 if the difference is within the uncertainty or the
// store's clock is not known.
func (c Clock) Ahead(local time.Time) time.Duration {
	if !c.Known() {
		return 0
	}
	switch ahead := local.Sub(c.Now()); {
	case ahead > c.uncertainty:
		return ahead - c.uncertainty
	case ahead < -c.uncertainty:
		return ahead + c.uncertainty
	}
	return 0
}
