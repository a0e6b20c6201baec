package jobtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Fault is a fault that an instance has reported, as a [Recorder] knows it.
type Fault struct {
	job.Fault
	JobName, InstanceID string
	// Began is when it was reported. Over is when it was over, or the instance died; zero while
	// it lasts.
	Began, Over time.Time
}

// IsOver reports whether the fault does not last any more.
func (f Fault) IsOver() bool { return !f.Over.IsZero() }

// String returns the fault in one line.
func (f Fault) String() string {
	text := fmt.Sprintf("%s fault %s: %s", f.JobName, f.Kind, shown(f.Err))
	if f.IsOver() {
		text += ", over after " + f.Over.Sub(f.Began).String()
	}
	return text
}

// Faults are faults in the order in which they began, with filters as [Executions] has them.
type Faults struct {
	recorder *Recorder
	list     []Fault
	asked    []string
	job      string
}

// Where returns those for which ok is true. what says in a failure what was asked for.
func (x Faults) Where(what string, ok func(Fault) bool) Faults {
	found := Faults{recorder: x.recorder, asked: append(slices.Clone(x.asked), what), job: x.job}
	for _, f := range x.list {
		if ok(f) {
			found.list = append(found.list, f)
		}
	}
	return found
}

// Of returns those of a job.
func (x Faults) Of(name string) Faults {
	of := x.Where("job "+name, func(f Fault) bool { return f.JobName == name })
	of.job = name
	return of
}

// Kind returns those of a kind.
func (x Faults) Kind(k job.FaultKind) Faults {
	return x.Where("kind "+k.String(), func(f Fault) bool { return f.Kind == k })
}

// On returns those of an instance, or of all instances with an address.
func (x Faults) On(instance string) Faults {
	return x.Where("on "+instance, func(f Fault) bool { return isOn(f.InstanceID, instance) })
}

// Lasting returns those that are not over.
func (x Faults) Lasting() Faults {
	return x.Where("that last", func(f Fault) bool { return !f.IsOver() })
}

// Len returns how many there are.
func (x Faults) Len() int { return len(x.list) }

// List returns them. The list is the caller's.
func (x Faults) List() []Fault { return slices.Clone(x.list) }

// Require ends the test if there are not n of them. The failure shows the history, after Of that of
// the job.
func (x Faults) Require(t testing.TB, n int) {
	t.Helper()
	if len(x.list) != n {
		t.Fatalf("jobtest: %d instead of %d faults%s\n%s", len(x.list), n, asked(x.asked), x.recorder.show(excerpt{job: x.job, faults: x.list}))
	}
	x.recorder.requireAll(t)
}

// One returns the only one. It ends the test if there is another number of them.
func (x Faults) One(t testing.TB) Fault {
	t.Helper()
	x.Require(t, 1)
	return x.list[0]
}
