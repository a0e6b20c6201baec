package history

import (
	"slices"
	"time"
)

// Kind says what an event is.
type Kind string

// What a worker writes.
const (
	Up     Kind = "up"     // the process runs
	Joined Kind = "joined" // a scheduler of a job was started
	// A scheduler is not started, because the job was removed: Err says so.
	Refused Kind = "refused"
	Left    Kind = "left"   // it has stopped; Err says why, if nobody asked for it
	Down    Kind = "down"   // everything was closed; Err names the goroutines that are left
	Start   Kind = "start"  // a handler was called
	Cut     Kind = "cut"    // its context ended before it returned; Cause says why
	End     Kind = "end"    // it returned; Outcome says how
	Commit  Kind = "commit" // the registry answered, or did not
	Write   Kind = "write"  // the fenced resource answered
	Slow    Kind = "slow"   // the registry took long for another request
	Stall   Kind = "stall"  // the machine gave the process no time since Call
	Faulty  Kind = "faulty" // a scheduler reports a fault of the kind Name from here on; Err is its text
	Sound   Kind = "sound"  // it reports it no more
	Fetch   Kind = "fetch"  // a stream fetches the rows after Row, because its cursor is there
	Batch   Kind = "batch"  // it has processed all rows up to Row
	// A once-listener is called for Tick, whose members are Items; Name is Started or Completed,
	// Again whether it is told that others may have been called. Completed has Results.
	Called   Kind = "called"
	Returned Kind = "returned" // that call has returned; Err says whether its context had ended
)

// What the orchestrator writes. Except for Kill, the line is written when the thing is
// done, and Call says when it began.
const (
	Kill      Kind = "kill"   // about to send SIGKILL to a process
	Pause     Kind = "pause"  // SIGSTOP
	Resume    Kind = "resume" // about to send SIGCONT
	Leave     Kind = "leave"  // about to ask a process to shut down
	Fault     Kind = "fault"  // about to begin, to a process or, without one, to the store
	Heal      Kind = "heal"   // the fault of that name is over
	Disable   Kind = "disable"
	Enable    Kind = "enable"
	Configure Kind = "configure" // a job got the rules
	Remove    Kind = "remove"    // a whole job was removed
	Restore   Kind = "restore"   // the store was put back to what it had been, or emptied
	Tamper    Kind = "tamper"    // somebody wrote to the tree of a job what only its instances write
	Gone      Kind = "gone"      // a bystander saw that the store dropped an instance's session
	// A bystander saw since when, Tick, a job's schedule is in force, which the commit with the
	// number Token has written; and what it leaves out, Out.
	Scheduled Kind = "scheduled"
	// A bystander saw that a commit with the number Token has created the configuration of a job,
	// or has removed the job and left a note of that.
	Created Kind = "created"
	Removed Kind = "removed"
	Quiet   Kind = "quiet" // the observation has ended: what comes due later need not run
)

// What an operator writes who steers a job. The line is written when the registry has answered,
// and Call says when he began. If Err is set, nobody knows whether it has happened.
const (
	Hold     Kind = "hold"    // the job was paused, by the commit with the number Token
	Release  Kind = "release" // the pause has ended, by the commit with the number Token
	Killing  Kind = "killing" // the execution of Item with Token is to end; again if Again is set
	Asked    Kind = "asked"   // Request has to run Items, for Ticks if it names some
	Answered Kind = "answered"
	Cancel   Kind = "cancel" // Request begins nothing more
	Pin      Kind = "pin"    // Item belongs to processes at Address
	Unpin    Kind = "unpin"
	Redeal   Kind = "redeal" // the items are to be resharded
)

// WaitingItem is the name of a Tamper that puts an item up to be run again, in a store that
// makes a node together with what is below it.
const WaitingItem = "a child below a waiting item"

// Outcome says how a handler returned.
type Outcome string

// The outcomes of an execution.
const (
	Done    Outcome = "done"
	Failed  Outcome = "failed"
	Stopped Outcome = "stopped" // by the end of its context, or because it was asked to return
)

// Event is one line of a log. Which fields have a meaning depends on Kind.
type Event struct {
	Kind Kind `json:"kind"`
	// Mono is nanoseconds of the host's monotonic clock, Wall the time of day by the
	// host's own clock, whatever clock the scheduler was given.
	Mono int64     `json:"mono"`
	Wall time.Time `json:"wall"`
	// Process is the one that writes, or to which something is done: "w3.2" is the second
	// life of worker 3.
	Process string `json:"process,omitempty"`
	Address string `json:"address,omitempty"` // of Up, Disable, Enable, Pin
	Strict  bool   `json:"strict,omitempty"`  // of Pin: no other process may have the item

	Job  string `json:"job,omitempty"`
	Item int    `json:"item"` // -1 where the event is not about one

	// Of an execution.
	Task     string    `json:"task,omitempty"`
	Tick     time.Time `json:"tick,omitzero"`
	Token    int64     `json:"token,omitempty"` // also of a commit, its number
	Source   string    `json:"source,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Outcome  Outcome   `json:"outcome,omitempty"`
	Cause    string    `json:"cause,omitempty"`

	// Of a request: when it was sent, and what came back.
	Call     int64   `json:"call,omitempty"`
	Err      string  `json:"err,omitempty"`
	Accepted bool    `json:"accepted,omitempty"`
	Claims   []Claim `json:"claims,omitempty"` // items whose run the commit began
	Ends     []int   `json:"ends,omitempty"`   // items whose record it removed
	Waits    []int   `json:"waits,omitempty"`  // items that it put up for others
	Told     []Told  `json:"told,omitempty"`   // how executions have ended, by what it wrote

	// Of an operator's request, and of Killing: Again is whether what was killed is to be run
	// again; of Hold, whether ticks are made up.
	Request string      `json:"request,omitempty"`
	Items   []int       `json:"items,omitempty"`
	Ticks   []time.Time `json:"ticks,omitempty"`
	Again   bool        `json:"again,omitempty"`
	Results []Result    `json:"results,omitempty"` // of Answered

	// Of Fetch and Batch: rows are numbered from 1 in each item.
	Row int64 `json:"row,omitempty"`

	Name  string `json:"name,omitempty"`  // of a fault, or what was tampered with
	Rules *Rules `json:"rules,omitempty"` // of Configure
	// Out is what a schedule leaves out.
	Out []Window `json:"out,omitempty"`
}

// Window is a stretch of time whose ticks are left out: those at From, and before To.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// isOut reports whether a tick is left out.
func isOut(windows []Window, tick time.Time) bool {
	return slices.ContainsFunc(windows, func(w Window) bool { return !tick.Before(w.From) && tick.Before(w.To) })
}

// Claim is one item of a commit that begins runs.
type Claim struct {
	Item    int       `json:"item"`
	Tick    time.Time `json:"tick,omitzero"`
	Request string    `json:"request,omitempty"` // that it runs for
}

// Told is what the registry was told of an execution: OK, FAILED, CUT, KILLED or another outcome.
type Told struct {
	Item    int    `json:"item"`
	Token   int64  `json:"token,omitempty"`
	Outcome string `json:"outcome"`
}

// Result is what an operator was told of one item of a request: the outcome of all its runs,
// the token of the last one, how many there were, and the last error.
type Result struct {
	Item    int    `json:"item"`
	Outcome string `json:"outcome"`
	Token   int64  `json:"token,omitempty"`
	Runs    int    `json:"runs,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Rules is what the check has to know about the configuration of a job.
type Rules struct {
	// Every is the time between two ticks, which are its multiples since the epoch: the
	// suite's expressions are of that kind, so that the check needs no calendar.
	Every    time.Duration `json:"every"`
	Total    int           `json:"total"`
	Failover bool          `json:"failover,omitempty"`
	Misfire  bool          `json:"misfire,omitempty"`
	// Narrow is a job with fewer threads than items. An item that has begun for the registry
	// may still wait for a thread, so promise 3 is not checked.
	Narrow bool `json:"narrow,omitempty"`
	// MaxItems is how many items an instance may run at a time; 0 is no bound.
	MaxItems int `json:"maxItems,omitempty"`
	// Skip is whether ticks that come while their item runs are skipped.
	Skip bool `json:"skip,omitempty"`
	// Once is whether a once-listener is told of its ticks.
	Once bool `json:"once,omitempty"`
	// Broadcast is whether each process has one item. Items have no runs without an owner then.
	Broadcast bool `json:"broadcast,omitempty"`
	// Jitter is by how much items may start after their tick.
	Jitter time.Duration `json:"jitter,omitempty"`
	// Ticks is how many ticks it has before it expires and is removed; 0 is no bound.
	Ticks int `json:"ticks,omitempty"`
	// Out is what its calendar leaves out.
	Out []Window `json:"out,omitempty"`
}
