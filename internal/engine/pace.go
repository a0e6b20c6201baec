package engine

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// aheadTime is how long a claim is expected to wait for a thread: as long as a few
	// commits take, so that threads are not idle between two commits.
	aheadTime = 100 * time.Millisecond
	// queueTime is how long a claim waits for a thread before it is released.
	queueTime = time.Second
	// maxAhead bounds how many claims may wait.
	maxAhead = 1000
)

// pace is how fast the runs of a job end here. It says how many items may be claimed although all threads are
// busy. These must be few: nobody else can run a claimed item, and a handler may hang.
type pace struct {
	mean time.Duration // of the time that a run takes; 0 before the first has ended
	last clocks.Moment // when a run ended last, or a thread was free
}

// ended notes how long a run took that has ended now.
func (p *pace) ended(took time.Duration, now clocks.Moment) {
	took = max(took, time.Microsecond)
	if p.mean == 0 {
		p.mean = took
	}
	p.mean += (took - p.mean) / 8
	p.last = now
}

// ahead returns how many claims may wait for a thread while all of them are busy.
func (p *pace) ahead(threads int, now clocks.Moment) int {
	switch {
	case now.Sub(p.last) > queueTime/2:
		return 0 // nothing has ended for a while
	case p.mean == 0:
		return threads
	}
	return int(min(int64(threads)*int64(aheadTime)/int64(p.mean), maxAhead))
}
