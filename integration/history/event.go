package history

import (
	"time"
)

// Kind says what an event is.
type Kind string

// What a worker writes.
const (
	Up     Kind = "up"     // the process runs
	Joined Kind = "joined" // a scheduler of a job was started
	Left   Kind = "left"   // it has stopped; Err says why, if nobody asked for it
	Down   Kind = "down"   // everything was closed; Err names the goroutines that are left
	Start  Kind = "start"  // a handler was called
	Cut    Kind = "cut"    // its context ended before it returned; Cause says why
	End    Kind = "end"    // it returned; Outcome says how
	Commit Kind = "commit" // the registry answered, or did not
	Write  Kind = "write"  // the fenced resource answered
	Slow   Kind = "slow"   // the registry took long for another request
	Stall  Kind = "stall"  // the machine gave the process no time since Call
	Faulty Kind = "faulty" // a scheduler reports a fault of the kind Name from here on; Err is its text
	Sound  Kind = "sound"  // it reports it no more
	Fetch  Kind = "fetch"  // a stream fetches the rows after Row, because its cursor is there
	Batch  Kind = "batch"  // it has processed all rows up to Row
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
	Scheduled Kind = "scheduled" // a bystander saw since when, Tick, a job's schedule is in force
	Quiet     Kind = "quiet"     // the observation has ended: what comes due later need not run
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
	Stopped Outcome = "stopped" // by the end of its context
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
	Address string `json:"address,omitempty"` // of Up, Disable, Enable

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

	// Of Fetch and Batch: rows are numbered from 1 in each item.
	Row int64 `json:"row,omitempty"`

	Name  string `json:"name,omitempty"`  // of a fault, or what was tampered with
	Rules *Rules `json:"rules,omitempty"` // of Configure
}

// Claim is one item of a commit that begins runs.
type Claim struct {
	Item int       `json:"item"`
	Tick time.Time `json:"tick,omitzero"`
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
}
