package job

import "time"

// since remembers since when something has held without a break.
type since struct{ at time.Time }

// hold notes whether it holds now, and returns for how long it has held. If the clock was
// set back, the time begins anew.
func (s *since) hold(holds bool, now time.Time) time.Duration {
	switch {
	case !holds:
		s.at = time.Time{}
		return 0
	case s.at.IsZero(), now.Before(s.at):
		s.at = now
	}
	return now.Sub(s.at)
}
