package job

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Health returns nil if no job has a fault, and none has stopped by itself. Otherwise the
// error says which have; errors.As finds a [Fault] in it, and errors.Is the cause of each.
// The process need not be restarted for a fault: see [Status].
func (n *Node) Health() error {
	jobs := n.Jobs()
	var errs []error
	for _, s := range jobs {
		err := s.Err()
		if fault := s.Status().Fault(); err == nil && fault != nil {
			err = fmt.Errorf("job %s: %w", s.Name(), fault)
		}
		errs = append(errs, err)
	}
	return joinJobs("are at fault", len(jobs), errs)
}

// Ready returns nil if all jobs that were started are registered, apart from those that are
// shut down. Otherwise the error says which are not: those that still start, those whose
// session was lost, and those that have stopped by themselves. A node without jobs is ready.
func (n *Node) Ready() error {
	n.mu.Lock()
	total, isClosed := len(n.jobs), n.isClosed
	var errs []error
	for name, s := range n.jobs {
		if s == nil {
			errs = append(errs, notRegistered(name))
		}
	}
	n.mu.Unlock()
	if isClosed {
		return ErrNodeClosed
	}
	for _, s := range n.Jobs() {
		if status := s.Status(); s.isDone() || !status.Registered && !status.Leaving {
			errs = append(errs, notRegistered(s.Name()))
		}
	}
	return joinJobs("are not ready", total, errs)
}

func notRegistered(name string) error {
	return fmt.Errorf("job %s: not registered", short(name))
}

// jobErrors are errors of several jobs. Each has the name of its job.
type jobErrors struct {
	what string // what they have in common
	of   int    // how many jobs there are
	errs []error
}

// joinJobs joins errors of jobs; nil if there are none.
func joinJobs(what string, of int, errs []error) error {
	all := &jobErrors{what: what, of: of}
	for _, err := range errs {
		if err != nil {
			all.errs = append(all.errs, err)
		}
	}
	if len(all.errs) == 0 {
		return nil
	}
	return all
}

// Error shows the first errors, shortened, and how many more there are.
func (e *jobErrors) Error() string {
	const most = 10
	var text strings.Builder
	fmt.Fprintf(&text, "job: %d of %d jobs %s", len(e.errs), e.of, e.what)
	for i, err := range e.errs {
		if i == most {
			fmt.Fprintf(&text, "; and %d more", len(e.errs)-most)
			break
		}
		text.WriteString("; " + brief.Error(err).Error())
	}
	return text.String()
}

func (e *jobErrors) Unwrap() []error { return e.errs }
