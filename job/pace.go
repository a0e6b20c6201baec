package job

import "time"

const (
	// aheadTime is what a claim may wait for a thread in ordinary times: a few commits. So
	// threads do not stand idle between two of them.
	aheadTime = 100 * time.Millisecond
	// queueTime is how long a claim waits before it is handed back.
	queueTime = time.Second
	// maxAhead bounds how many claims wait.
	maxAhead = 1000
)

// pace is how fast the runs of a job end here. It says how many items may be claimed
// beyond those that can begin at once: what is claimed cannot be given to anybody else,
// and a handler may hang.
type pace struct {
	mean time.Duration // of a run; 0 before the first has ended
	last time.Time     // when a thread was free last
}

// ended takes in a run.
func (p *pace) ended(took time.Duration, now time.Time) {
	took = max(took, time.Microsecond)
	if p.mean == 0 {
		p.mean = took
	}
	p.mean += (took - p.mean) / 8
	p.last = now
}

// ahead is how many claims may wait for one of so many threads, all of which are busy.
func (p *pace) ahead(threads int, now time.Time) int {
	switch {
	case now.Sub(p.last) > queueTime/2:
		return 0 // nothing has ended for a while
	case p.mean == 0:
		return threads
	}
	return int(min(int64(threads)*int64(aheadTime)/int64(p.mean), maxAhead))
}
