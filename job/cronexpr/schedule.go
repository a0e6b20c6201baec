package cronexpr

import "time"

// Schedule is a parsed expression in a time zone. Parse makes it; the zero Schedule
// must not be used. It never changes, and is safe for concurrent use.
type Schedule struct {
	loc      *time.Location
	timeline timeline
	pattern  pattern
	every    int64 // seconds between ticks of @every; 0 if the pattern decides
}

// Location is the time zone that the expression is read in.
func (s *Schedule) Location() *time.Location { return s.loc }

// Next returns the first time of the schedule after t, in the schedule's location,
// or the zero time if there is none up to the end of 2099. It implements
// cron.Schedule of github.com/robfig/cron/v3, and does not allocate.
func (s *Schedule) Next(t time.Time) time.Time {
	after := clamp(t.Unix()) + 1
	if s.every > 0 {
		return s.everyTime(ceil(after, s.every))
	}
	for wall := s.timeline.wallFrom(after); ; {
		next, ok := s.pattern.next(wall)
		if !ok {
			return time.Time{}
		}
		if unix, ok := s.timeline.instant(next); ok {
			return s.at(unix)
		}
		_, wall = s.timeline.around(next)
	}
}

// Prev returns the last time of the schedule that is not after t, in the schedule's
// location, or the zero time if there is none from 1970 on. A time of the
// schedule is its own Prev. It does not allocate.
func (s *Schedule) Prev(t time.Time) time.Time {
	at := clamp(t.Unix())
	if s.every > 0 {
		return s.everyTime(ceil(at+1, s.every) - s.every)
	}
	for wall := s.timeline.wallUpTo(at); ; {
		prev, ok := s.pattern.prev(wall)
		if !ok {
			return time.Time{}
		}
		if unix, ok := s.timeline.instant(prev); ok {
			return s.at(unix)
		}
		wall, _ = s.timeline.around(prev)
	}
}

func (s *Schedule) at(unix int64) time.Time { return time.Unix(unix, 0).In(s.loc) }

// everyTime returns a tick of @every, or the zero time outside of 1970 to 2099.
func (s *Schedule) everyTime(unix int64) time.Time {
	if unix < minWall || unix > maxWall {
		return time.Time{}
	}
	return s.at(unix)
}

// ceil returns the first multiple of step that is at least n and not negative.
func ceil(n, step int64) int64 {
	if n <= 0 {
		return 0
	}
	return (n + step - 1) / step * step
}

// clamp brings a time that is far away near enough for arithmetic not to overflow.
func clamp(unix int64) int64 {
	return min(max(unix, minWall-maxOffset), maxWall+maxOffset)
}
