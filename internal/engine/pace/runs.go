package pace

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// aheadTime is how long a claim is expected to wait for a thread: as long as a few
	// commits take, so that threads are not idle between two commits.
	aheadTime = 100 * time.Millisecond
	// QueueTime is how long a claim waits for a thread before it is released.
	QueueTime = time.Second
	// maxAhead bounds how many claims may wait.
	maxAhead = 1000
)

// Runs is how fast the runs of a job end here. It says how many items may be claimed although all threads are
// busy. These must be few: nobody else can run a claimed item, and a handler may hang.
type Runs struct {
	mean time.Duration // of the time that a run takes; 0 before the first has ended
	last clocks.Moment // when a run ended last, or a thread was free
}

// Ended notes how long a run took that has ended now.
func (r *Runs) Ended(took time.Duration, now clocks.Moment) {
	took = max(took, time.Microsecond)
	if r.mean == 0 {
		r.mean = took
	}
	r.mean += (took - r.mean) / 8
	r.last = now
}

// Free notes that a thread is free now.
func (r *Runs) Free(now clocks.Moment) { r.last = now }

// Idle returns how long ago a run ended, or a thread was free.
func (r *Runs) Idle(now clocks.Moment) time.Duration { return now.Sub(r.last) }

// Ahead returns how many claims may wait for a thread while all of them are busy.
func (r *Runs) Ahead(threads int, now clocks.Moment) int {
	switch {
	case r.Idle(now) > QueueTime/2:
		return 0 // nothing has ended for a while
	case r.mean == 0:
		return threads
	}
	return int(min(int64(threads)*int64(aheadTime)/int64(r.mean), maxAhead))
}
