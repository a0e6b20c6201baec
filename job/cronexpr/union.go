package cronexpr

import (
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
