package jobtype

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Observer is told what a scheduler does: for metrics, traces and a history of what ran. Each observer has
// a goroutine of its own, which calls it with one event after the other, in the order in which they happened
// here. So an observer that is slow or panics harms nobody; it only falls behind. If it is more than 10,000 events
// behind, it misses the newest ones, and is told how many by an [EventMissed].
//
// The shutdown of a scheduler waits until its observers were told everything, for a second at most.
type Observer func(Event)

// Event is one thing that has happened to a job in this process. Kind says what, and which fields are set: the others
// are zero. Slices are for reading.
type Event struct {
	Kind    EventKind
	Time    time.Time // by the local clock
	JobName string
	// InstanceID is this process as an instance of the job; empty before it has an identity.
	InstanceID string

	// Execution is the one that the event is about, from EventClaimed to EventFinished. Of EventMadeUp and EventSkipped
	// it has Item and ScheduledTime, of EventDue ScheduledTime, of EventCommanded RequestID and Token.
	Execution

	// Attempt is the number of the attempt that has failed, from 1 (EventRetried), or how many there were (EventFinished).
	Attempt int
	Outcome Outcome // EventFinished
	// Waited is how long the claim has waited for a thread (EventStarted).
	Waited time.Duration
	// Late is how long after its ScheduledTime, and the delay that Config.Jitter allows, the handler is called, by the
	// local clock; 0 if it is on time, or no time was said (EventStarted).
	Late time.Duration
	// Backoff is how long after the failed attempt the next one comes (EventRetried).
	Backoff time.Duration
	// Took is how long all attempts took, with the pauses between them (EventFinished).
	Took time.Duration
	// Err is what the attempt returned (EventRetried, EventFinished: the last one), or why the instance has left or the
	// session was lost (EventLeft, EventSession). If the text of the error of EventFinished is long, and 16 MiB of such
	// texts and outputs have been waiting for this observer, it is another error with the first 500 bytes of that text.
	Err error
	// Output is what the handler has kept (job.SetOutput): a script's output, say; nil if there is none. Dropped is true
	// if there was one, and it was dropped because 16 MiB have been waiting for this observer (EventFinished).
	Output  []byte
	Dropped bool

	// Count is how many: ticks of EventDue, EventMadeUp and EventSkipped, 1,000 at most; events of EventMissed.
	Count int
	// Jitter is Config.Jitter: items may begin that much later than the tick (EventDue).
	Jitter time.Duration
	Reason SkipReason // EventSkipped

	// Items are ascending: all that the instance has now (EventItems), those whose runs were cut short
	// (EventRecovered), those that a command is about (EventCommanded).
	Items []int
	// Gained and Lost are the items that the instance has got and lost (EventItems).
	Gained, Lost []int
	// From is the instance that has ended. TaskIDs are those of the executions of Items, in their order; one is empty if
	// the tree does not tell. Failover is whether the items are run again (EventRecovered).
	From     string
	TaskIDs  []string
	Failover bool

	Session coord.SessionState // EventSession
	// Revision is Config.Revision, and Version the store-wide number of the commit that has written the configuration.
	// Changes says in words what differs from the configuration before, in 21 texts at most; properties without their
	// values. There are none when this instance has just started (EventConfigured).
	Revision int
	Version  int64
	Changes  []string

	Pause   Pause   // EventPaused; also when it is over
	Command Command // EventCommanded
	Target  Target  // EventCommanded
	// By and Why are who has asked, and what he has said, where the tree knows it (EventCommanded).
	By, Why string

	Fault Fault // EventFault
	// Over is true at the end of what has begun before: a fault, a pause, leadership; and of a command that takes
	// another one back: items or servers are enabled, pins are removed.
	Over bool
}

// Execution names an execution.
type Execution struct {
	// TaskID is that of the handler's context.
	TaskID string
	Item   int
	// ScheduledTime is the tick that it is for.
	ScheduledTime time.Time
	Source        Source
	// Token is the fencing token; 0 with MonitorExecution off.
	Token int64
	// RequestID is the ID of the request that asked for it: a trigger, a retry or a backfill. It
	// is empty if none did.
	RequestID string
	// OriginalTaskID is the task id of the execution that this one repeats: with SourceFailover
	// the one that was cut short, with SourceRetry the one that had failed. If that repeated
	// another one, it is the id of the first of them. It is empty if it repeats none, or if the
	// tree does not tell.
	OriginalTaskID string
}

// EventKind says what has happened.
type EventKind int

// The kinds of events.
const (
	// EventClaimed: this instance has claimed an item. The handler is called when a thread is free;
	// if none is for a second, the claim is released.
	EventClaimed EventKind = iota + 1
	// EventReleased: a claim was given up before it was started. No thread became free, or this
	// instance leaves. Whoever may run the item does.
	EventReleased
	// EventStarted: the handler is called.
	EventStarted
	// EventRetried: the handler has failed, and is called again after a while.
	EventRetried
	// EventFinished: the handler has returned for the last time.
	EventFinished
	// EventMadeUp: the execution that is started next makes up for ticks that were missed. If it is on time for its
	// own tick (SourceNormal), that is not one of them: ScheduledTime is the tick that the execution is for. With
	// MonitorExecution off the ticks that came while the item ran count as one; and so do those of a schedule that has
	// changed since.
	EventMadeUp
	// EventSkipped: nobody runs these ticks; ScheduledTime is the last of them. It is not told with MonitorExecution
	// off, nor of ticks of a pause. If the answer of the store was lost, it is told as soon as the tree shows that it
	// has happened.
	EventSkipped
	// EventRecovered: this instance, as leader, has found runs that were cut short by the end of
	// their instance.
	EventRecovered
	// EventJoined: this process is an instance of the job now.
	EventJoined
	// EventLeft: this process is no instance of the job any more, under this id. The session was
	// lost, and it joins again under another one, or the scheduler has ended. What was told of
	// it before is over: EventLeads and EventItems have said so. Err is nil after Shutdown.
	EventLeft
	// EventSession: the registry's session has begun, is suspended or connected again, or was lost.
	EventSession
	// EventLeads: this instance leads, or leads no more (Over).
	EventLeads
	// EventItems: other items are assigned to this instance.
	EventItems
	// EventConfigured: this instance goes by this configuration now. It is told once for each one: after
	// EventJoined, and whenever another one takes effect here. One that is refused is a fault.
	EventConfigured
	// EventPaused: an operator has paused the job, or has ended that. Each instance tells it. If the job
	// is paused when an instance joins, that is told after EventJoined.
	EventPaused
	// EventCommanded: an operator has asked for something, and it is obeyed. One instance tells it: see
	// [Command].
	EventCommanded
	// EventDue: a tick of the schedule has come; if several have come at once, ScheduledTime is the last of them. Each
	// instance that is in the tree tells it once, whether or not it has items. There are none in a pause, for one-off
	// jobs, and of times that a calendar leaves out. Count is more than 1 if this process was without a session, or
	// stood still.
	EventDue
	// EventFault: something keeps the job from running as it should, or no longer does (Over).
	EventFault
	// EventMissed: events were dropped, because the observer was too far behind.
	EventMissed
	// EventOperated: an operator has changed something. No scheduler tells it but package ops, to a history.
	EventOperated
)

var eventKinds = [...]string{
	"unknown", "claimed", "released", "started", "retried", "finished", "made up", "skipped", "recovered", "joined", "left", "session", "leads",
	"items", "configured", "paused", "commanded", "due", "fault", "missed", "operated",
}

func (k EventKind) String() string { return word(eventKinds[:], int(k)) }

// word is the text of a value; that of 0 if the value is none.
func word(texts []string, value int) string {
	if value < 0 || value >= len(texts) {
		value = 0
	}
	return texts[value]
}

// SkipReason says why nobody runs ticks.
type SkipReason int

// The reasons.
const (
	// SkipItemDisabled: an operator has disabled the item.
	SkipItemDisabled SkipReason = iota + 1
	// SkipServersDisabled: an operator has disabled all servers, or all that have the label of the job.
	SkipServersDisabled
	// SkipTooLate: the tick was missed and is not made up, because misfire is off or the tick
	// is longer ago than Config.MisfireWindow.
	SkipTooLate
	// SkipWhileRunning: the tick came while the item ran, and misfire is off or Config.Overlap
	// is OverlapSkip.
	SkipWhileRunning
	// SkipBegunElse: this process has run the tick of a broadcast job with another item, or as
	// another instance.
	SkipBegunElse
	// SkipScheduleChanged: the tick was missed by the schedule that was effective before, and is not made up.
	// Misfire was off then, or no process knows any more what the calendars of that schedule said.
	SkipScheduleChanged
)

var skipReasons = [...]string{
	"unknown", "item disabled", "servers disabled", "too late", "while running", "begun with another item", "schedule changed",
}

func (r SkipReason) String() string { return word(skipReasons[:], int(r)) }
