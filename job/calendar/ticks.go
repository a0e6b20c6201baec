package calendar

import "time"

// Schedule has ticks at whole seconds. Next returns the first after a time, and Prev the last
// that is not after it; both return the zero time if there is none.
type Schedule interface {
	Next(time.Time) time.Time
	Prev(time.Time) time.Time
}

// Without returns the ticks of a schedule that no calendar leaves out. It jumps over what is
// left out, however long that is.
func Without(s Schedule, calendars ...*Calendar) Schedule {
	if len(calendars) == 0 {
		return s
	}
	return &ticks{s, calendars}
}

type ticks struct {
	all       Schedule
	calendars []*Calendar
}

func (s *ticks) Next(t time.Time) time.Time {
	at := s.all.Next(t)
	for !at.IsZero() {
		out, isOut := s.out(at)
		if !isOut {
			break
		}
		at = s.all.Next(time.Unix(out.to-1, 0))
	}
	return at
}

func (s *ticks) Prev(t time.Time) time.Time {
	at := s.all.Prev(t)
	for !at.IsZero() {
		out, isOut := s.out(at)
		if !isOut {
			break
		}
		at = s.all.Prev(time.Unix(out.from-1, 0))
	}
	return at
}

// out returns the span of a calendar that leaves a tick out.
func (s *ticks) out(tick time.Time) (span, bool) {
	for _, c := range s.calendars {
		if out, isOut := c.around(tick.Unix()); isOut {
			return out, true
		}
	}
	return span{}, false
}
