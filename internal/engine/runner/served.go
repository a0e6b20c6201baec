package runner

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// A job whose start has failed is started again after firstRestart, and then less and less
	// often, up to every lastRestart.
	firstRestart = time.Second
	lastRestart  = 2 * time.Minute
	// stableAfter is how long a scheduler runs until earlier failures count no more.
	stableAfter = time.Minute
)

// served is a job of the namespace in a Runner. Its fields belong to the loop. Of the states that
// the package comment draws it is
//
//	waiting  without a scheduler, until due
//	refused  the same, with a fault
//	served   with a scheduler
//	leaving  with a scheduler that was asked to leave
//	over     without one, as long as the configuration is of one of the generations that are over here
type served struct {
	name    string
	listing listing // what the namespace shows of it

	isBusy  bool // a task for it is in the queue, or under way, and does not hang
	isStuck bool // a start of it hangs

	scheduler Scheduler     // nil if there is none
	from      listing       // what it was started by
	since     clocks.Moment // when it was started
	isOwn     bool          // the program has started it, not the Runner
	leaving   *time.Timer   // ends its time to drain; nil if it was not asked to leave

	over    generations   // those in which it is not to be started
	fault   jobtype.Fault // why it is not served; Err is nil if it is
	failing clocks.Moment // since when
	tried   clocks.Moment // when the last start has failed
	due     clocks.Moment // when it may be started
	backoff sleep.Backoff // after failures

	reported written
	timer    *time.Timer // looks at the job again; nil if it was never needed
}

// generations are the commits that may have created a configuration: all from one to another.
type generations struct{ first, last int64 }

// has reports whether a life is one of them.
func (l generations) has(life int64) bool { return l.first <= life && life <= l.last && life != 0 }

// action is what a Runner does about a job next.
type action int

const (
	nothing action = iota
	start          // a task: start it
	report         // a task: bring faults/{id} up to date
	leave          // ask its scheduler to leave
	forget         // it does not concern the Runner any more
)

// next decides what to do about a job. If that is nothing, wait is in which time to ask again though nothing has
// changed; 0 if that is not needed. isBlind says that the namespace may have nodes that it does not show.
func (j *served) next(now clocks.Moment, session coord.SessionID, isBlind bool) (do action, wait time.Duration) {
	if j.isBusy {
		return nothing, 0
	}
	if says := j.faultToReport(); j.reported.differs(says, session) {
		if wait = j.reported.wait(says, now); wait <= 0 {
			return report, 0
		}
	}
	switch {
	case j.scheduler != nil:
		// That a job is gone is for its scheduler to find out.
		isAnother := j.listing.life != 0 && (j.listing.life != j.from.life || j.listing.offer != j.from.offer)
		if isAnother && !j.isOwn && j.leaving == nil {
			return leave, 0
		}
		return nothing, wait
	case !j.listing.isServed():
		isRemembered := j.over != generations{} && (isBlind || j.listing.life != 0)
		if wait == 0 && !isRemembered && !j.isStuck {
			return forget, 0
		}
		return nothing, wait
	case j.isStuck, j.over.has(j.listing.life):
		return nothing, wait
	}
	left := j.due.Sub(now)
	if left <= 0 {
		return start, 0
	}
	if wait == 0 {
		wait = left
	}
	return nothing, min(wait, left)
}

// faultToReport returns the fault that operators are to see in the tree; the zero jobtype.Fault if there is none.
func (j *served) faultToReport() jobtype.Fault {
	if !j.listing.isServed() {
		return jobtype.Fault{}
	}
	return j.fault
}

// setListing takes in what the namespace shows now. If that is something new, it is tried at once
// whether the job starts by it, but no more often than every firstRestart.
func (j *served) setListing(listing listing) {
	if listing == j.listing {
		return
	}
	j.listing, j.due = listing, j.tried.Add(firstRestart)
	j.backoff.Reset()
}

// refuse notes that the job is not served, and when to try again.
func (j *served) refuse(kind jobtype.FaultKind, err error, now clocks.Moment) {
	j.putOff(now)
	if j.fault.Err == nil {
		j.fault.Since, j.failing = clocks.Wall(), now
	}
	j.fault.Kind, j.fault.Err = kind, err
}

// putOff makes the next start wait.
func (j *served) putOff(now clocks.Moment) {
	j.tried, j.due = now, now.Add(j.backoff.Next())
}
