package job

import (
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Status is how a scheduler stands.
//
// For liveness (restart the process) look at [Scheduler.Done]: as long as it is open the
// scheduler works, or heals by itself. For readiness look at Registered. Alert on Faults:
// each says what keeps the job from running as it should, and none means that nothing
// does.
type Status struct {
	// InstanceID names this process among the job's instances. It is new in every
	// session.
	InstanceID string
	// Session is how the registry's session stands. It is always of this moment, as are
	// the ticks.
	Session coord.SessionState
	// Registered is whether the instance is in the registry, with a session that can be
	// trusted; Enabled whether its server may run items, Leader whether it deals the items.
	Registered, Enabled, Leader bool
	// Leaving is set on the way out.
	Leaving bool
	// Items are assigned to this instance. Running are under way in this process: those
	// that run, wait for a thread, or wait for their record to be removed. Both ascending.
	Items, Running []int
	// Waiting are items that should have begun and did not, those of this instance, and
	// on the leader those of all: at most 100, ascending.
	Waiting []Waiting
	// LastTick is the last tick that was due, NextTick the next one; zero for a one-off
	// job, or if there is none.
	LastTick, NextTick time.Time
	// LastError is what the last execution that failed here returned, at LastErrorTime.
	LastError     error
	LastErrorTime time.Time
	// Faults are what keeps the job from running as it should, one of a kind at most.
	Faults []Fault
}

// Waiting is an item that should have begun.
type Waiting struct {
	Item int
	// Since is when it was seen first that it should have.
	Since time.Time
	// Why is what is known of the reason.
	Why string
}

// Fault returns the faults as one error, or nil. errors.Is and errors.As find each of
// them, as a [Fault], and its cause.
func (s Status) Fault() error {
	errs := make([]error, len(s.Faults))
	for i, f := range s.Faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

func (s Status) clone() Status {
	s.Items, s.Running = slices.Clone(s.Items), slices.Clone(s.Running)
	s.Waiting, s.Faults = slices.Clone(s.Waiting), slices.Clone(s.Faults)
	return s
}

// add adds a fault of a kind that has none yet.
func (s *Status) add(f Fault) {
	at, there := slices.BinarySearchFunc(s.Faults, f, func(a, b Fault) int { return int(a.Kind) - int(b.Kind) })
	if !there {
		s.Faults = slices.Insert(s.Faults, at, f)
	}
}
