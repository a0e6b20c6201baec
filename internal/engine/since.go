package engine

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// since remembers since when something has held without a break.
type since struct{ at clocks.Moment }

// hold notes whether it holds now, and returns for how long it has held.
func (s *since) hold(holds bool, now clocks.Moment) time.Duration {
	switch {
	case !holds:
		s.at = clocks.Moment{}
		return 0
	case s.at.IsZero():
		s.at = now
	}
	return now.Sub(s.at)
}
