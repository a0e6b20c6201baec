package trace

import (
	"log/slog"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Event is one thing that has happened in this process. Fields that its Kind does not have
// are zero.
type Event struct {
	// ID is unique, and sorts by time (UUID version 7). A sink that is given an event twice
	// knows it by its ID.
	ID   string
	Time time.Time // by the local clock
	Kind jobtype.EventKind
	Job  string
	// Instance is this process as an instance of the job; empty before it has an identity.
	Instance string

	// Execution is of what happens to an execution: EventClaimed to EventFinished. Of EventMadeUp
	// and EventSkipped it has Item and ScheduledTime, of EventDue ScheduledTime, of EventCommanded
	// Token and RequestID.
	Execution jobtype.Execution
	// Attempt is the attempt that has failed (EventRetried), or how many there were
	// (EventFinished).
	Attempt int
	Outcome jobtype.Outcome // EventFinished
	Waited  time.Duration   // EventStarted: for a thread
	Took    time.Duration   // EventFinished: with the pauses between attempts
	Backoff time.Duration   // EventRetried
	// Error is the text of the error, MaxText bytes at most; with a panic its stack, too.
	Error string
	// Output is the end of what the handler has kept (job.SetOutput). Dropped says that
	// there was some, and that it had to be dropped.
	Output  []byte
	Dropped bool

	// Ticks is how many: EventMadeUp, EventSkipped, EventDue. Of EventMissed it is how many events.
	Ticks int
	// Items are those of EventItems, all that the instance has now, of EventRecovered and of
	// EventCommanded.
	Items []int
	// From is the instance that has ended: EventRecovered. Of EventOperated it is where the operator
	// was, such as an address.
	From string
	// What is more about it, in a word or two: the reason of EventSkipped, the state of
	// EventSession, the kind of EventFault, the command of EventCommanded, the action of
	// EventOperated, the revision of EventConfigured; "failover" if the items of EventRecovered are run again.
	What string
	// Detail says more: what has changed (EventConfigured), whom it is about (EventCommanded,
	// EventOperated). MaxText bytes at most.
	Detail string
	// By and Why are what an operator has said: EventPaused, EventCommanded, EventOperated.
	By, Why string
	// Before and After are how it was, and how it is: EventOperated. They are whole documents of
	// configurations, or a few words, of MaxDocument bytes at most.
	Before, After string
	// Over is true at the end of what has begun before: a fault, a pause, leadership; and of a
	// command that takes another one back.
	Over bool
}

// Line is a line that a handler has written with job.Logger, or that its script has printed.
type Line struct {
	Job, TaskID, Instance string
	Item                  int
	// Number counts the lines of an execution, from 1. With TaskID it is unique.
	Number int
	Time   time.Time
	Level  slog.Level
	// Text is the message with its attributes, MaxText bytes at most.
	Text string
}

// Bounds of the texts of an event or a line, in bytes.
const (
	MaxText = 4000
	// MaxDocument bounds Event.Before and Event.After, each.
	MaxDocument = 16_000
)

// Batch is what a sink is to keep at a time. Events and lines of one execution come in their
// order, in this batch and the next ones.
type Batch struct {
	Events []Event
	Lines  []Line
}

func (b Batch) count() Count { return Count{len(b.Events), len(b.Lines)} }

// first returns the first events and lines of a batch, so many at most; events come before lines.
func (b Batch) first(most int) Batch {
	events := min(len(b.Events), most)
	return Batch{b.Events[:events], b.Lines[:min(len(b.Lines), most-events)]}
}

// without returns what comes after the first ones.
func (b Batch) without(first Batch) Batch {
	return Batch{b.Events[len(first.Events):], b.Lines[len(first.Lines):]}
}
