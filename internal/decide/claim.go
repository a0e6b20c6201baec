package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Source says why an item runs.
type Source int

// The sources of an execution.
const (
	Normal   Source = iota + 1 // its tick came due
	Misfire                    // it makes up for missed ticks
	Failover                   // it was cut short elsewhere
	Manual                     // it was triggered
)

// Claim is an item that begins to run, as the commit that begins it says so.
type Claim struct {
	Item      int
	Source    Source
	Tick      time.Time // that the execution is for
	Last      time.Time // the last tick that the item has begun, with this claim
	Before    time.Time // and without it
	Parameter string    // of a trigger, as is Request
	Request   string    // its id
	Failover  bool      // it has the records of a failover, too
}

// Run is an execution in this process, as far as decisions need to know it.
type Run struct {
	Claim
	Token    int64  // Modified of the item's fired record at the claim; 0 where jobs have no records
	Instance string // the identity that claimed it
	Recorded bool   // the tree has records of it, as far as this process knows
	Flagged  bool   // this process has set the misfire flag of the item while it ran
	// Completed says how it ended, for those who read the tree; nil as long as it has not.
	Completed *jobtree.CompletionDocument
}

// Work is what this process has under way. It changes during a pass, from step to step,
// so it is no part of the [World].
type Work struct {
	// Runs are the executions in this process, by item.
	Runs map[int]*Run
	// Ended has the token of the last run of an item whose record was removed from here. A
	// snapshot that is older than that is not taken for news.
	Ended map[int]int64
	// Waiting has the ticks that items of this instance were on time for, but for a thread.
	// Such a tick is not missed, however long the wait is.
	Waiting map[int]time.Time
	// Begun has the last scheduled tick that each item has begun in this process.
	Begun map[int]time.Time
}

// NewWork returns the work of a process that has none.
func NewWork() *Work {
	return &Work{Runs: map[int]*Run{}, Ended: map[int]int64{}, Waiting: map[int]time.Time{}, Begun: map[int]time.Time{}}
}

// Forget drops what only holds within one session, which is all but the executions.
func (k *Work) Forget() {
	clear(k.Ended)
	clear(k.Waiting)
	clear(k.Begun)
}

// hasBegun reports whether this process has begun a tick of an item, or a later one,
// whatever the tree says. A leader takes back what a clock that is ahead has begun, and
// that clock would begin it again at once.
func (k *Work) hasBegun(item int, tick time.Time) bool { return !tick.After(k.Begun[item]) }

// hasWaited reports whether an item was on time for a tick and has waited for a thread
// since.
func (k *Work) hasWaited(item int, tick time.Time) bool {
	at, ok := k.Waiting[item]
	return ok && at.Equal(tick)
}
