package cronexpr

import (
	"slices"
	"strings"
	"time"
)

// Union ticks whenever one of its schedules does. A time at which several do is one tick.
type Union []*Schedule

// Next returns the earliest tick after t; the zero time if there is none.
func (u Union) Next(t time.Time) time.Time {
	var next time.Time
	for _, s := range u {
		if at := s.Next(t); next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// Prev returns the latest tick at or before t; the zero time if there is none.
func (u Union) Prev(t time.Time) time.Time {
	var prev time.Time
	for _, s := range u {
		if at := s.Prev(t); at.After(prev) {
			prev = at
		}
	}
	return prev
}

// String lists the expressions, one a line.
func (u Union) String() string {
	lines := make([]string, len(u))
	for n, s := range u {
		lines[n] = s.String()
	}
	return strings.Join(lines, "\n")
}

// Same reports whether two unions mean the same: they have the same expressions in zones whose clocks
// always show the same, however these are written, in any order and any number.
func (u Union) Same(other Union) bool { return u.covers(other) && other.covers(u) }

// covers reports whether each schedule of another union is one of this one.
func (u Union) covers(other Union) bool {
	for _, s := range other {
		if !slices.ContainsFunc(u, s.same) {
			return false
		}
	}
	return true
}

// same reports whether two schedules mean the same. The zone does not matter to @every.
func (s *Schedule) same(other *Schedule) bool {
	if s.every > 0 || other.every > 0 {
		return s.every == other.every
	}
	return s.pattern == other.pattern && slices.Equal(s.timeline, other.timeline)
}
