// Package clocks keeps the two clocks of a process apart.
//
// The wall clock shows the time of day, which is what a schedule is about. It can be set at any
// time. A time.Time is a time of day: it is recorded in the tree, shown, or compared with such times. It
// carries no monotonic reading, because two times that carry one are compared by that, and then
// nobody sees that the clock was set.
//
// The monotonic clock counts the time that passes, and nobody can set it. A [Moment] is a reading
// of it: back-offs, deadlines and durations are measured by moments. They mean nothing outside the
// process.
//
// The two do not mix: the compiler keeps a moment from being compared with a time of day. The exception is
// coord.Session, whose Deadline is a time.Time with a monotonic reading, for timers and contexts.
package clocks

import "time"

// Wall returns the time of day by the local clock.
func Wall() time.Time { return Stripped(time.Now()) }

// Stripped returns a time of day without the monotonic reading that it may have.
func Stripped(t time.Time) time.Time { return t.Round(0) }

// Moment is a reading of the monotonic clock. The zero value is none.
type Moment struct{ reading time.Time }

// Now returns the present moment.
func Now() Moment { return Moment{time.Now()} }

// Add returns the moment d later.
func (m Moment) Add(d time.Duration) Moment { return Moment{m.reading.Add(d)} }

// Sub returns how much later than another a moment is.
func (m Moment) Sub(other Moment) time.Duration { return m.reading.Sub(other.reading) }

// Before reports whether a moment is earlier than another.
func (m Moment) Before(other Moment) bool { return m.reading.Before(other.reading) }

// After reports whether a moment is later than another.
func (m Moment) After(other Moment) bool { return m.reading.After(other.reading) }

// Equal reports whether two moments are the same.
func (m Moment) Equal(other Moment) bool { return m.reading.Equal(other.reading) }

// IsZero reports whether there is no moment.
func (m Moment) IsZero() bool { return m.reading.IsZero() }

// Since returns how long ago a moment was.
func Since(m Moment) time.Duration { return time.Since(m.reading) }

// Until returns how long it is until a moment comes.
func Until(m Moment) time.Duration { return time.Until(m.reading) }

// Instant is a moment by both clocks.
type Instant struct {
	Wall time.Time
	Mono Moment
}

// Earlier returns the earlier of two moments. The zero one is none.
func Earlier(a, b Moment) Moment {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// IsOver reports whether a deadline is over, which carries a monotonic reading, as coord.Session's does.
func IsOver(deadline time.Time) bool { return !time.Now().Before(deadline) }
