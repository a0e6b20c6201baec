package jobtype

import (
	"fmt"
	"time"
)

// FaultKind says what is wrong if a job does not run as it should.
type FaultKind int

// The kinds of faults.
const (
	// FaultConfig: this process refuses the configuration in the registry, so the last good
	// one stays in force; or the leader has not put the schedule of the configuration in
	// force; or that schedule has no future tick, and is not to end; or a broadcast job has more
	// instances than items, pins, or JVM members; or a job that is to end has JVM members; or a
	// Runner cannot start the job. Correct the configuration, or give this process the strategy or
	// error handler that the configuration names.
	FaultConfig FaultKind = iota + 1
	// FaultClock: this host's clock is more than 5 s, or more than Config.MaxTimeDiff, away
	// from the store's; or MaxTimeDiff is set and the two cannot be compared; or the tree has
	// times from the future. If it is more than 10 s, items go to instances whose clocks are
	// right. Set the clock.
	FaultClock
	// FaultStore: the store does not answer, refuses requests, or does not show this process
	// its newest state. That the store does not answer is noticed before the session ends, and
	// is told with the time at which it was heard last. Check the store, the network, and the permissions of this process.
	FaultStore
	// FaultTree: nodes in the job's tree are in the way: they cannot be read, changed or
	// removed, or somebody writes them again each time; or there is no leader; or an instance
	// is there that does not know a newer protocol, or what operators have asked for; or
	// somebody else has ended the session before, in the last ten minutes. Look at the path or
	// the instance in the error.
	FaultTree
	// FaultStarvation: items should have begun and have not. Either all threads are busy; or
	// an execution of the item still runs when its next tick is due, or when a request waits;
	// or no instance may have the item; or its owner does not begin it. This is also the
	// fault of a handler that has not returned within WithCancelGrace after its time-out or a
	// kill, and of a scheduler that has stood still for 15 s, because something that it called
	// does not return.
	FaultStarvation
	// FaultStrategy: the sharding strategy fails, does not answer within 5 s, or gives an
	// answer that is not allowed.
	FaultStrategy
	// FaultCalendar: a calendar that the configuration names is gone or cannot be read. The
	// last good one that this process has stays in force. If it has none, it begins no ticks;
	// others do that know the calendar.
	FaultCalendar
)

var faultKinds = [...]string{"unknown", "configuration", "clock", "store", "tree", "starvation", "strategy", "calendar"}

func (k FaultKind) String() string { return word(faultKinds[:], int(k)) }

// Fault is something that keeps a job from running as it should. It is an error that
// wraps its cause.
type Fault struct {
	Kind FaultKind
	// Err is the cause, and says what it is about. Its text is bounded.
	Err error
	// Since is when the fault was first noticed; of a store that does not answer, when it was heard last.
	Since time.Time
}

func (f Fault) Error() string { return fmt.Sprintf("%v: %v", f.Kind, f.Err) }

// Unwrap returns the cause.
func (f Fault) Unwrap() error { return f.Err }
