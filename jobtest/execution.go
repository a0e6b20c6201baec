package jobtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Execution is one execution of an item, as a [Recorder] knows it.
type Execution struct {
	job.Execution
	JobName, InstanceID string
	// Began is when the handler was called, Ended when it had returned for the last time, or
	// when its instance died. Ended is zero while it runs.
	Began, Ended time.Time
	// Outcome is 0 while it runs, and [job.OutcomeCut] if its instance died.
	Outcome job.Outcome
	// Err is what the last attempt has returned, or [ErrDied].
	Err error
	// Attempts is how many attempts there were, Took how long they took, with the pauses between
	// them. Output is what the handler has kept with [job.SetOutput].
	Attempts int
	Took     time.Duration
	Output   []byte
}

// IsRunning reports whether the handler had not returned.
func (e Execution) IsRunning() bool { return e.Outcome == 0 }

// String returns the execution in one line.
func (e Execution) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s item %d, tick %s, %s, token %d", e.JobName, e.Item, e.ScheduledTime.Format(tickLayout), e.Source, e.Token)
	switch {
	case e.IsRunning():
		b.WriteString(": runs")
	default:
		fmt.Fprintf(&b, ": %s after %v", e.Outcome, e.Took)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " and %d attempts", e.Attempts)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %s", shown(e.Err))
	}
	return b.String()
}

// Executions are executions in the order in which they began. Each filter returns those of
// them that match, and changes nothing; so filters can be put one behind the other:
//
//	rec.Executions().Of("settle").Item(1).Outcome(job.OutcomeOK).Require(t, 3)
type Executions struct {
	recorder *Recorder
	list     []Execution
	asked    []string // what the filters were
	job      string   // that of Of
}

// Where returns those for which ok is true. what says in a failure what was asked for.
func (x Executions) Where(what string, ok func(Execution) bool) Executions {
	found := Executions{recorder: x.recorder, asked: append(slices.Clone(x.asked), what), job: x.job}
	for _, e := range x.list {
		if ok(e) {
			found.list = append(found.list, e)
		}
	}
	return found
}

// Of returns those of a job.
func (x Executions) Of(name string) Executions {
	of := x.Where("job "+name, func(e Execution) bool { return e.JobName == name })
	of.job = name
	return of
}

// Item returns those of an item.
func (x Executions) Item(item int) Executions {
	return x.Where(fmt.Sprintf("item %d", item), func(e Execution) bool { return e.Item == item })
}

// Tick returns those for a tick, whatever their source is.
func (x Executions) Tick(at time.Time) Executions {
	return x.Where("tick "+at.Format(tickLayout), func(e Execution) bool { return e.ScheduledTime.Equal(at) })
}

// Source returns those with a source.
func (x Executions) Source(s job.Source) Executions {
	return x.Where("source "+s.String(), func(e Execution) bool { return e.Source == s })
}

// Outcome returns those that have ended so.
func (x Executions) Outcome(o job.Outcome) Executions {
	return x.Where("outcome "+o.String(), func(e Execution) bool { return e.Outcome == o })
}

// Running returns those that have not ended.
func (x Executions) Running() Executions { return x.Where("that run", Execution.IsRunning) }

// On returns those of an instance, or of all instances with an address.
func (x Executions) On(instance string) Executions {
	return x.Where("on "+instance, func(e Execution) bool { return isOn(e.InstanceID, instance) })
}

// Len returns how many there are.
func (x Executions) Len() int { return len(x.list) }

// List returns them. The list is the caller's.
func (x Executions) List() []Execution { return slices.Clone(x.list) }

// Require ends the test if there are not n of them. The failure shows the history, after Of that of
// the job.
func (x Executions) Require(t testing.TB, n int) {
	t.Helper()
	if len(x.list) != n {
		t.Fatalf("jobtest: %d instead of %d executions%s\n%s", len(x.list), n, asked(x.asked), x.recorder.show(excerpt{job: x.job, marked: x.ids()}))
	}
	x.recorder.requireAll(t)
}

// One returns the only one. It ends the test if there is another number of them.
func (x Executions) One(t testing.TB) Execution {
	t.Helper()
	x.Require(t, 1)
	return x.list[0]
}

// ids returns their task ids.
func (x Executions) ids() map[string]bool {
	ids := map[string]bool{}
	for _, e := range x.list {
		ids[e.TaskID] = true
	}
	return ids
}

// asked returns what was asked for, as part of a sentence.
func asked(filters []string) string {
	if len(filters) == 0 {
		return ""
	}
	return ": " + strings.Join(filters, ", ")
}
