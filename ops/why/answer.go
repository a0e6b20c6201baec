package why

import "time"

// Verdict says what became of a tick.
type Verdict string

// The verdicts. Of several items the last of these that is one's counts.
const (
	// NotDue: there was no tick, or it had run before the moment.
	NotDue Verdict = "not due"
	// Ran: it has begun in time.
	Ran Verdict = "ran"
	// FailedOver: another instance has run it again, because the first one had ended.
	FailedOver Verdict = "failed over"
	// Late: it has begun too late, or a later run has made it up.
	Late Verdict = "late"
	// Unknown: no run of it is known, nor why there is none.
	Unknown Verdict = "unknown"
	// Skipped: nobody has run it, so far.
	Skipped Verdict = "skipped"
)

// Kind says what a cause is.
type Kind string

// The kinds of causes, in the order in which an answer has them. First those for which there was no tick.
const (
	OneOff          Kind = "one-off"          // the job has no cron
	Created         Kind = "created"          // the job was not there yet
	ScheduleChanged Kind = "schedule-changed" // the schedule was not in force yet
	Expired         Kind = "expired"          // the job had reached its end
	Calendar        Kind = "calendar"         // a calendar has left the tick out
	Between         Kind = "between"          // the tick before had run, and the next one had not come

	// Those that keep ticks from beginning.
	Paused          Kind = "paused"
	ServersDisabled Kind = "servers-disabled"
	ItemDisabled    Kind = "item-disabled"
	StillRunning    Kind = "still-running" // an earlier run of the item was not over
	TooLate         Kind = "too-late"      // it was missed, and is not made up
	BegunElse       Kind = "begun-else"    // the process of a broadcast job has run it with another item
	NoInstance      Kind = "no-instance"

	// What was so at that time.
	Fault        Kind = "fault"
	Configured   Kind = "configured"    // another configuration took effect
	NewInstances Kind = "new-instances" // instances have left and others have joined, as at a deployment

	// How the runs of the tick have waited and ended.
	NoThread Kind = "no-thread" // it waited for a thread
	CutShort Kind = "cut-short" // its instance has ended
	Killed   Kind = "killed"
	Failed   Kind = "failed"
)

// Answer says why a job, or an item of it, did or did not run.
type Answer struct {
	Job string `json:"job"`
	// Item is nil if the question is about all items.
	Item *int      `json:"item,omitempty"`
	At   time.Time `json:"at"`
	// Tick is the scheduled time that the answer is about: the last one up to At, also if a calendar has left it out. Next is
	// the tick after At. Each is zero if there is none.
	Tick    time.Time `json:"tick,omitzero"`
	Next    time.Time `json:"next,omitzero"`
	Verdict Verdict   `json:"verdict"`
	// Causes are why, the first one first. Runs are the executions for the tick, by item: the first 100.
	Causes []Cause `json:"causes"`
	Runs   []Run   `json:"runs"`
	// Unseen says what could not be looked at, or is not certain.
	Unseen []string `json:"unseen"`
}

// Cause is something that was so at a tick, and matters for it.
type Cause struct {
	Kind Kind `json:"kind"`
	// Items are those that it is about; none means all that were asked for.
	Items []int `json:"items,omitempty"`
	// Since and Until are zero if they are not known, Until also if it is not over.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// By is who has done it, and Why what he has said.
	By  string `json:"by,omitempty"`
	Why string `json:"why,omitempty"`
	// Text is the cause in a sentence. It may quote texts of others.
	Text string `json:"text"`
	// Command is the command of elasticjob that changes it, or shows more; empty if there is none.
	Command string `json:"command,omitempty"`
}

// Run is an execution for a tick.
type Run struct {
	ID       string    `json:"id"`
	Item     int       `json:"item"`
	Instance string    `json:"instance,omitempty"`
	Source   string    `json:"source,omitempty"`
	Outcome  string    `json:"outcome"`
	Begun    time.Time `json:"begun,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}
