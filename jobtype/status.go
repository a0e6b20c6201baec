package jobtype

import (
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Status is the state of a scheduler.
//
// Alert on Faults: each says what keeps the job from running as it should. If there are none,
// nothing does. Whether to restart the process (liveness) is a question for job.Node.Live, or for
// a single job: as long as Done is open, the scheduler works or heals by itself,
// unless it stands still (FaultStarvation).
type Status struct {
	// InstanceID is the id of this process as an instance of the job. Each session has
	// another one.
	InstanceID string
	// Session is the state of the registry's session. It and the ticks are always up to
	// date.
	Session coord.SessionState
	// Registered is whether the instance is in the registry, with a session that can be
	// trusted. Enabled is whether its server may run items. Leader is whether it is the
	// instance that assigns the items.
	Registered, Enabled, Leader bool
	// Leaving is whether the scheduler is shutting down.
	Leaving bool
	// Paused says since when the job is paused; the zero value if it is not. No tick begins
	// then.
	Paused Pause
	// Expired is whether the job has no tick to come, because its configuration has an end: see
	// [Expiry]. It still runs what it is asked for.
	Expired bool
	// Differs is whether the configuration of the program is another one than the registry's, which is
	// effective.
	Differs bool
	// Items are those that are assigned to this instance. Running are the items that this
	// process has claimed: they run, wait for a thread, or wait until their record is
	// removed. Both are ascending.
	Items, Running []int
	// Waiting are items that should have begun and have not: those of this instance, and on
	// the leader those of all instances. If all servers are disabled, each instance shows all
	// items that requests wait for, which is no fault. At most 100, ascending.
	Waiting []Waiting
	// LastTick is the last tick that was due, NextTick the next one; zero for a one-off
	// job, or if there is none. NextTick is zero while the job is paused.
	LastTick, NextTick time.Time
	// LastError is the error of the last execution that failed here, LastErrorTime when that
	// was.
	LastError     error
	LastErrorTime time.Time
	// Faults are what keeps the job from running as it should, at most one of each kind.
	Faults []Fault
}

// Pause says that an operator has paused the job.
type Pause struct {
	// Since is when that was, by the clock of whoever did it or the store's.
	Since time.Time
	// By and Why are what he has said.
	By, Why string
	// MakeUp is whether the ticks of the pause are made up, once for all, when it ends.
	MakeUp bool
}

// Waiting is an item that should have begun and has not.
type Waiting struct {
	Item int
	// Since is when that was first noticed.
	Since time.Time
	// Why is the reason, as far as it is known.
	Why string
}

// Fault returns the faults as one error; nil if there are none. errors.As finds a [Fault] in
// it, and errors.Is the cause of each.
func (s Status) Fault() error {
	errs := make([]error, len(s.Faults))
	for i, f := range s.Faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}
