package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Source says why an item runs.
type Source int

// The sources of an execution.
const (
	Normal   Source = iota + 1 // its tick came due
	Misfire                    // it makes up for missed ticks
	Failover                   // its run was cut short elsewhere
	Manual                     // it was triggered
	Retry                      // a request runs it again for a tick
	Backfill                   // a request runs it for ticks of some time
)

// Claim is an item that a commit claims, and what for.
type Claim struct {
	Item      int
	Source    Source
	Tick      time.Time // the tick that the execution is for
	Last      time.Time // the last tick that the item has begun, this claim included
	Before    time.Time // the last tick that it had begun before this claim
	Parameter string    // of the request; "" if there is none
	Request   string    // the id of the request; "" if there is none
	Done      int       // how many runs of the request have ended before
	Failed    int       // how many of them without success
	Failover  bool      // it has the marks of a failover: {i}/failover and {i}/failovering
	Original  string    // the task id of the execution that it repeats, the first of them; "" if there is none
	Since     int64     // the number of an earlier commit that has claimed the item; 0 if this one does
}

// Run is an execution in this process, as far as decisions need to know it.
type Run struct {
	Claim
	TaskID   string // of the execution
	Token    int64  // the number of the commit that has claimed it; 0 if the job has no records
	Instance string // the identity that claimed it
	Recorded bool   // the tree has its record, as far as this process knows
	Marked   bool   // this process has set the item's misfire flag while it ran
	// Completed says how it has ended, for those who read the tree; nil until it has ended.
	Completed *jobtree.CompletionDocument
	// NoCompletion is set if {i}/completed cannot be written.
	NoCompletion bool
}

// Work is what this process has under way. Steps change it during a pass, so it is no part of the [World].
type Work struct {
	// Runs are the executions in this process, by item.
	Runs map[int]*Run
	// Ended has, for each item, the token of the last run whose record this process has
	// removed. A snapshot that still shows that record is old.
	Ended map[int]int64
	// Waiting has the ticks that items of this instance would have begun on time if a thread had been free.
	// Such a tick is not missed, however long it waits.
	Waiting map[int]time.Time
	// LastEnded has when the last run of each item has ended here.
	LastEnded map[int]clocks.Moment
	// Holds are the items that are held for rebalance, or were lately: see [World.HoldForRebalance].
	Holds map[int]Hold
	// Begun has the last tick that each item has begun in this process by its schedule.
	Begun map[int]time.Time
	// Unconfirmed has, by item, claims whose answers were lost, so that they may have happened. The tree does not
	// tell what the item had begun before.
	Unconfirmed map[int]Claim
	// LastBegun is the last tick that this process has begun by the schedule, with any item. A new session
	// does not forget it.
	LastBegun LastBegun
}

// NewWork returns the work of a process that has nothing under way.
func NewWork() *Work {
	return &Work{Runs: map[int]*Run{}, Ended: map[int]int64{}, Waiting: map[int]time.Time{}, LastEnded: map[int]clocks.Moment{}, Holds: map[int]Hold{}, Begun: map[int]time.Time{}, Unconfirmed: map[int]Claim{}}
}

// Forget drops what holds only within one session.
func (k *Work) Forget() {
	clear(k.Ended)
	clear(k.Waiting)
	clear(k.Begun)
	clear(k.Unconfirmed)
}

// restoreBefore sets Before of a claim that was found in the tree, if it is the one that was sent and
// whose answer was lost.
func (k *Work) restoreBefore(c *Claim) {
	if sent, ok := k.Unconfirmed[c.Item]; ok && sent.Tick.Equal(c.Tick) && sent.Last.Equal(c.Last) && sent.isOfTick() && c.isOfTick() {
		c.Before = sent.Before
	}
}

// hasBegun reports whether this process has begun a tick of an item, or a later one. The tree may say
// otherwise: if the local clock is ahead, the leader takes back the ticks that it has begun too early, and
// this process must not begin them again at once.
func (k *Work) hasBegun(item int, tick time.Time) bool { return !tick.After(k.Begun[item]) }

// isWaitingOnTime reports whether an item was on time for a tick, and has been waiting for a thread since then.
func (k *Work) isWaitingOnTime(item int, tick time.Time) bool {
	at, ok := k.Waiting[item]
	return ok && at.Equal(tick)
}
