package alert

import "time"

// The time between two log lines about the same trouble.
const (
	firstGap = time.Minute
	maxGap   = time.Hour
)

// seldom lets something be said at once, and then at growing intervals.
type seldom struct {
	gap  time.Duration
	next time.Time
}

func (s *seldom) may(now time.Time) bool {
	if now.Before(s.next) {
		return false
	}
	s.gap = min(max(2*s.gap, firstGap), maxGap)
	s.next = now.Add(s.gap)
	return true
}
