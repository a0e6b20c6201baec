package job

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Observer is told what a scheduler does: for metrics, traces and a history of what ran.
// Each function may be nil. A goroutine of the observer's own calls them one after the
// other, in the order in which things happened here. So an observer that is slow or panics
// harms nobody; it only falls behind. If it is more than 10,000 events behind, it misses the
// newest events, and is told later how many.
//
// [Scheduler.Shutdown] waits until observers were told everything, for a second at most.
type Observer struct {
	// Joined: this process is an instance of the job now.
	Joined func(JoinedEvent)
	// Left: this process is no instance of the job any more, under this id. The session was
	// lost, and it joins again under another one, or the scheduler has ended. What was told of
	// it before is over: Leads and ItemsChanged have said so.
	Left func(LeftEvent)
	// Session: the registry's session has begun, is suspended or connected again, or was lost.
	Session func(SessionEvent)
	// Leads: this instance leads, or leads no more.
	Leads func(LeadsEvent)
	// ItemsChanged: other items are assigned to this instance.
	ItemsChanged func(ItemsChangedEvent)
	// Configured: this instance goes by this configuration now. It is told once for each one: after
	// Joined, and whenever another one is put in force here. One that is refused is a Fault.
	Configured func(ConfiguredEvent)
	// Paused: an operator has paused the job, or has ended that. Each instance tells it. If the job
	// is paused when an instance joins, that is told after Joined.
	Paused func(PausedEvent)
	// Commanded: an operator has asked for something, and it is obeyed. One instance tells it: see
	// [Command].
	Commanded func(CommandedEvent)
	// Due: a tick of the schedule has come. Each instance that is in the tree tells it once,
	// whether or not it has items. There are none in a pause, for one-off jobs, and of times that
	// a calendar leaves out.
	Due func(DueEvent)
	// Claimed: this instance has claimed an item. The handler is called when a thread is free;
	// if none is for a second, the claim is handed back.
	Claimed func(ClaimedEvent)
	// HandedBack: a claim was given up before it was started. No thread became free, or this
	// instance leaves. Whoever may run the item does.
	HandedBack func(HandedBackEvent)
	// Started: the handler is called.
	Started func(StartedEvent)
	// Retried: the handler has failed, and is called again after a while.
	Retried func(RetriedEvent)
	// Finished: the handler has returned for the last time.
	Finished func(FinishedEvent)
	// MadeUp: the execution that is started next makes up for ticks that were missed. If it is on time for its
	// own tick (SourceNormal), that is not one of them.
	MadeUp func(MadeUpEvent)
	// PassedOver: nobody runs these ticks. It is not told with MonitorExecution off, nor of ticks
	// of a pause. If the answer of the store was lost, it is told as soon as the tree shows that it has happened.
	PassedOver func(PassedOverEvent)
	// Recovered: this instance, as leader, has found runs that were cut short by the end of
	// their instance.
	Recovered func(RecoveredEvent)
	// Fault: something keeps the job from running as it should, or no longer does.
	Fault func(FaultEvent)
	// Missed: the observer was too far behind, and has missed events.
	Missed func(MissedEvent)
}

// Event is what all events have.
type Event struct {
	Time       time.Time // by the local clock
	JobName    string
	InstanceID string // of this process; empty before it has an identity
}

// Execution names an execution.
type Execution struct {
	// TaskID is ShardingContext.TaskID.
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

// The events.
type (
	JoinedEvent struct{ Event }
	LeftEvent   struct {
		Event
		// Err is why: nil after Shutdown, what Scheduler.Err returns, or why the session ended.
		Err error
	}
	SessionEvent struct {
		Event
		State coord.SessionState
		// Err is why the session was lost.
		Err error
	}
	LeadsEvent struct {
		Event
		Leads bool
	}
	ItemsChangedEvent struct {
		Event
		Gained, Lost, Items []int // ascending; Items are all that the instance has now
	}
	ConfiguredEvent struct {
		Event
		// Revision is Config.Revision. Version is the store-wide number of the commit that has
		// written the configuration.
		Revision int
		Version  int64
		// Changes says in words what differs from the configuration before, in 21 texts at most;
		// properties without their values. There are none when this instance has just started.
		Changes []string
	}
	PausedEvent struct {
		Event
		// Pause says since when, by whom and why; also when it is over.
		Pause
		// Over is true when the pause is over, false when it begins.
		Over bool
	}
	DueEvent struct {
		Event
		// ScheduledTime is the tick; if several have come at once, the last of them.
		ScheduledTime time.Time
		// Ticks is how many have come since the last one that was told, 1,000 at most. It is more
		// than 1 if this process was without a session, or stood still.
		Ticks int
		// Jitter is Config.Jitter: items may begin that much later.
		Jitter time.Duration
	}
	ClaimedEvent struct {
		Event
		Execution
	}
	HandedBackEvent struct {
		Event
		Execution
	}
	StartedEvent struct {
		Event
		Execution
		// Waited is how long the claim has waited for a thread.
		Waited time.Duration
		// Late is how long after its ScheduledTime, and the delay that Config.Jitter allows, the
		// handler is called, by the local clock; 0 if it is on time, or no time was said.
		Late time.Duration
	}
	RetriedEvent struct {
		Event
		Execution
		// Attempt is the number of the attempt that has failed with Err; the first is 1. The
		// next one comes after Backoff.
		Attempt int
		Err     error
		Backoff time.Duration
	}
	FinishedEvent struct {
		Event
		Execution
		Outcome Outcome
		// Err is what the last attempt returned. If its text is long, and 16 MiB of such texts and
		// outputs have been waiting for this observer, it is another error with the first 500 bytes
		// of that text.
		Err error
		// Attempts is how many attempts there were. Took is how long they took, with the
		// pauses between them.
		Attempts int
		Took     time.Duration
		// Output is what the handler has kept with [SetOutput]: a script's output, say. It is
		// for reading, and is nil if there is none. Dropped is true if there was one, and it was
		// dropped because 16 MiB have been waiting for this observer.
		Output  []byte
		Dropped bool
	}
	MadeUpEvent struct {
		Event
		Item int
		// Ticks is how many ticks were missed, 1,000 at most. With MonitorExecution off those
		// that came while the item ran count as one; and so do those of a schedule that has changed since.
		Ticks int
		// ScheduledTime is the tick that the execution is for: the last one that was missed, or the one after them
		// if it is on time for that.
		ScheduledTime time.Time
	}
	PassedOverEvent struct {
		Event
		Item int
		// Ticks is how many are passed over, 1,000 at most.
		Ticks int
		// ScheduledTime is the last of them.
		ScheduledTime time.Time
		Reason        PassReason
	}
	RecoveredEvent struct {
		Event
		// From is the instance that has ended. TaskIDs are those of the executions of Items, in
		// their order; one is empty if the tree does not tell. Failover is whether the items
		// are run again.
		From     string
		Items    []int
		TaskIDs  []string
		Failover bool
	}
	FaultEvent struct {
		Event
		Fault
		// Over is true when the fault is over, false when it begins.
		Over bool
	}
	MissedEvent struct {
		Event
		Events int
	}
)

// PassReason says why nobody runs ticks.
type PassReason int

// The reasons.
const (
	// PassItemDisabled: an operator has disabled the item.
	PassItemDisabled PassReason = iota + 1
	// PassServersDisabled: an operator has disabled all servers.
	PassServersDisabled
	// PassTooLate: the tick was missed and is not made up, because misfire is off or the tick
	// is longer ago than Config.MisfireWindow.
	PassTooLate
	// PassWhileRunning: the tick came while the item ran, and misfire is off or Config.Overlap
	// is OverlapSkip.
	PassWhileRunning
	// PassBegunElse: this process has run the tick of a broadcast job with another item, or as
	// another instance.
	PassBegunElse
	// PassScheduleChanged: the tick was missed by the schedule that was in force before, and is not made up.
	// Misfire was off then, or no process knows any more what the calendars of that schedule said.
	PassScheduleChanged
)

func (r PassReason) String() string {
	switch r {
	case PassItemDisabled:
		return "item disabled"
	case PassServersDisabled:
		return "servers disabled"
	case PassTooLate:
		return "too late"
	case PassWhileRunning:
		return "while running"
	case PassBegunElse:
		return "begun with another item"
	case PassScheduleChanged:
		return "schedule changed"
	}
	return "unknown"
}

// WithObserver adds an observer that is told what the scheduler does. It may be given
// several times; each observer is told at its own pace.
func WithObserver(o Observer) Option {
	return func(to *options) error {
		to.observers = append(to.observers, o)
		return nil
	}
}
