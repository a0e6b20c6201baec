package health

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// RateLimit is for a recurring log line: it is logged at most once a minute, with the number of occurrences since the
// line before. The zero value is ready. It is not safe for concurrent use.
type RateLimit struct {
	count  int
	logged clocks.Moment
}

// rateLimitPeriod is the shortest time between two such lines.
const rateLimitPeriod = time.Minute

// Add counts n more. It returns the count for a line that is to be logged now, or 0 if it is too early for one.
func (r *RateLimit) Add(n int) int {
	r.count += n
	now := clocks.Now()
	if !r.logged.IsZero() && now.Sub(r.logged) < rateLimitPeriod {
		return 0
	}
	n, r.count, r.logged = r.count, 0, now
	return n
}
