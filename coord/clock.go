package coord

import "time"

// ClockPath is the node that a registry writes in its namespace to read the store's clock,
// on a store that tells the time only as the time of a write (ZooKeeper).
const ClockPath = "~elasticjob/clock"

// Clock is what a process knows about the store's clock: how far it was from the local one
// when the two were compared. Since then the local monotonic clock counts the time. So its
// methods send nothing, and a step of the local wall clock shows at once. A step of the
// store's clock shows at the next comparison; [Registry.Clock] says when that is.
// The zero value knows nothing.
type Clock struct {
	local       time.Time // when the clocks were compared, with its monotonic reading
	store       time.Time // what the store's clock showed then
	uncertainty time.Duration
	err         error
}

// NewClock returns a clock that was compared at the time local, which comes from time.Now.
// The store's clock showed the time store then, give or take the uncertainty.
func NewClock(local, store time.Time, uncertainty time.Duration) Clock {
	return Clock{local: local, store: store.Round(0), uncertainty: uncertainty} // without a monotonic reading
}

// Failed returns the clock with the error of a later attempt to compare it. What was known
// stays known.
func (c Clock) Failed(err error) Clock {
	c.err = err
	return c
}

// Known reports whether the clocks have ever been compared.
func (c Clock) Known() bool { return !c.local.IsZero() }

// Err says why the last attempt to compare the clocks failed, or nil if it succeeded.
//
// Errors: ErrNoClock if the store has no clock that can be read, ErrUnavailable, ErrDenied.
func (c Clock) Err() error { return c.err }

// Now is the store's time now. It means nothing unless the clock is Known.
func (c Clock) Now() time.Time { return c.store.Add(time.Since(c.local)) }

// Ahead returns how far local, which is the local time now, is certainly ahead of the
// store's time: negative if it is behind, and 0 if the difference is within the uncertainty
// or the store's clock is not known.
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
