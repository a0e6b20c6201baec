package job

import (
	"fmt"
	"time"
)

// FaultKind says what is wrong when a job does not run as it should.
type FaultKind int

// The kinds of faults.
const (
	// FaultConfig: the configuration in the registry is refused here, and the last good
	// one stays in force; or the leader has not put the configuration's schedule in force,
	// or it has no tick to come.
	// Correct the configuration, or give this process what it names.
	FaultConfig FaultKind = iota + 1
	// FaultClock: this host's clock is more than 5 s, or than Config.MaxTimeDiff, from the
	// store's, or cannot be compared with it while MaxTimeDiff is set; or the tree has
	// times from the future. With more than 10 s, items go to instances whose clocks are
	// right. Set the clock.
	FaultClock
	// FaultStore: the store does not answer, refuses what is asked, or does not show what
	// it holds. Look at the store, the network, and this process's permissions.
	FaultStore
	// FaultTree: nodes of the job's tree are in the way: they cannot be read, changed or
	// removed, or come back each time they are; or nobody leads. Look at the path that is
	// named.
	FaultTree
	// FaultStarvation: items that should have begun did not: all threads are busy, an
	// execution goes on over its next tick or in the way of a trigger, no instance may have
	// them, or theirs does not begin them. Also a scheduler that has got no further for
	// 15 s, because something that it called does not return.
	FaultStarvation
	// FaultStrategy: the sharding strategy fails, does not answer within 5 s, or gives
	// answers that cannot be.
	FaultStrategy

	faultKinds = iota + 1
)

func (k FaultKind) String() string {
	switch k {
	case FaultConfig:
		return "configuration"
	case FaultClock:
		return "clock"
	case FaultStore:
		return "store"
	case FaultTree:
		return "tree"
	case FaultStarvation:
		return "starvation"
	case FaultStrategy:
		return "strategy"
	}
	return "unknown"
}

// Fault is something that keeps a job from running as it should. It is an error that
// wraps its cause.
type Fault struct {
	Kind FaultKind
	// Err is the cause, with what it is about; bounded in length.
	Err error
	// Since is when it was noticed first.
	Since time.Time
}

func (f Fault) Error() string { return fmt.Sprintf("%v: %v", f.Kind, f.Err) }

// Unwrap returns the cause.
func (f Fault) Unwrap() error { return f.Err }
