package job

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
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

// standings are what others may know of a Runner's loop.
type standings struct {
	mu      sync.Mutex
	refused map[string]Fault // jobs that are not served, by name
	doubted error            // the namespace cannot be followed
	unread  error            // the namespace is not read yet; nil if it was
	untried map[string]bool  // the jobs that it had then, and that were not tried yet
	first   int              // how many there were
}

var (
	errNotRun  = errors.New("job: runner: Run was not called")
	errReading = errors.New("job: runner: the namespace is not read yet")
)

// reads notes that the namespace is being read, and why it is not yet.
func (s *standings) reads(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread = errReading; err != nil {
		s.unread = fmt.Errorf("%w: %w", errReading, brief.Error(err))
	}
}

// hasRead notes that the namespace was read, and which jobs are to be tried.
func (s *standings) hasRead(queue []*errand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread, s.untried, s.first = nil, map[string]bool{}, len(queue)
	for _, e := range queue {
		s.untried[e.job.name] = true
	}
}

// hasTried notes that a job was tried, or need not be.
func (s *standings) hasTried(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.untried, name)
}

// doubts notes why the namespace cannot be followed; nil if it can.
func (s *standings) doubts(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubted = nil; err != nil {
		since := clocks.Wall()
		if stale, ok := errors.AsType[*coord.StaleError](err); ok {
			since = stale.Since
		}
		s.doubted = Fault{Kind: kindOfViewFault(err), Err: fmt.Errorf("job: runner: view of the namespace: %w", brief.Error(err)), Since: since}
	}
}

// refuses notes that a job is not served.
func (s *standings) refuses(name string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[name] = f
}

// accepts notes that a job is served, or need not be.
func (s *standings) accepts(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refused, name)
}

// Refused returns the jobs that a [Runner] cannot serve at present, by name. None of them makes
// the node unready. A node that is not that of a Runner refuses none.
func (n *Node) Refused() []Refusal {
	if n.runner == nil {
		return nil
	}
	s := &n.runner.standings
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Refusal, 0, len(s.refused))
	for _, name := range slices.Sorted(maps.Keys(s.refused)) {
		list = append(list, Refusal{name, s.refused[name]})
	}
	return list
}

// doubtOf returns why the Runner, if there is one, cannot follow the namespace.
func (r *Runner) doubtOf() error {
	if r == nil {
		return nil
	}
	r.standings.mu.Lock()
	defer r.standings.mu.Unlock()
	return r.doubted
}

// awaits returns nil for a node without a Runner, and once the Runner has read the namespace and
// tried to start each job that it had then. Before that the error says what it waits for.
func (r *Runner) awaits() error {
	if r == nil {
		return nil
	}
	s := &r.standings
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.unread != nil:
		return s.unread
	case len(s.untried) > 0:
		return fmt.Errorf("job: runner: %d of %d jobs are not tried yet", len(s.untried), s.first)
	}
	return nil
}
