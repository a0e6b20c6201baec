package job

import (
	"fmt"
	"maps"
	"slices"
)

// Refusal is a job that a Runner cannot serve at present, and why. It tries again: at once when the
// job's configuration or implementation changes, and at least every two minutes.
//
// The kind of the fault is jobtype.FaultConfig if the configuration or the implementation is refused;
// jobtype.FaultStore if the store has not let the job start; jobtype.FaultTree if nodes of it may not be read or
// written; jobtype.FaultStarvation if its scheduler has panicked, or if a start has not returned in a minute.
type Refusal struct {
	Job string
	Fault
}

func (f Refusal) Error() string { return fmt.Sprintf("job %s: %v", short(f.Job), f.Fault) }

// Unwrap returns the fault.
func (f Refusal) Unwrap() error { return f.Fault }

// Refused returns the jobs that a [Runner] cannot serve at present, by name. None of them makes
// the node unready. A node that is not that of a Runner refuses none.
func (n *Node) Refused() []Refusal {
	if n.runner == nil {
		return nil
	}
	refused := n.runner.server.Refused()
	list := make([]Refusal, 0, len(refused))
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		list = append(list, Refusal{name, refused[name]})
	}
	return list
}

// doubtOf returns why the Runner, if there is one, cannot follow the namespace.
func (r *Runner) doubtOf() error {
	if r == nil {
		return nil
	}
	return r.server.ViewFault()
}
