package job

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Health returns nil if no job has a fault, none has stopped by itself, and all have started. Otherwise the
// error says which have; errors.As finds a [Fault] in it, and errors.Is the cause of each.
// The process need not be restarted for a fault: see [Node.Live].
func (n *Node) Health() error {
	jobs := n.Jobs()
	var errs []error
	for _, s := range jobs {
		err := s.Err()
		if n.runner.expects(err) {
			continue // the Runner forgets it
		}
		if fault := (Status{Faults: s.engine.Faults()}).Fault(); err == nil && fault != nil {
			err = fmt.Errorf("job %s: %w", s.Name(), fault)
		}
		errs = append(errs, err)
	}
	refused := n.Refused()
	for _, f := range refused {
		errs = append(errs, f)
	}
	missing := n.notStarted()
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		errs = append(errs, fmt.Errorf("job %s: %w", short(name), missing[name]))
	}
	return errors.Join(n.runner.doubtOf(), joinJobs("are at fault", len(jobs)+len(refused)+len(missing), errs))
}

// notStarted returns why jobs have not started.
func (n *Node) notStarted() map[string]Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.missing)
}

// Faults goes over what is at fault, by job: its name, and a [Fault], or why its scheduler has
// stopped by itself ([Scheduler.Err]). A job has at most one fault of each kind. What concerns no
// single job, because a [Runner] cannot follow the namespace, has an empty name.
func (n *Node) Faults() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, s := range n.Jobs() {
			if err := s.Err(); err != nil && !n.runner.expects(err) && !yield(s.Name(), err) {
				return
			}
			for _, f := range s.engine.Faults() {
				if !yield(s.Name(), f) {
					return
				}
			}
		}
		for name, fault := range n.notStarted() {
			if !yield(name, fault) {
				return
			}
		}
		for _, f := range n.Refused() {
			if !yield(f.Job, f.Fault) {
				return
			}
		}
		if doubt := n.runner.doubtOf(); doubt != nil {
			yield("", doubt)
		}
	}
}

// Live returns nil unless a restart of the process would help. It is meant for a liveness probe
// of Kubernetes, which restarts the container when it fails several times in a row, and which
// is to show only what the process cannot recover from. The error says which jobs these are:
//
//   - The scheduler of a job has stopped by itself, because it could not go on: something that it
//     called has panicked, or the registry was closed. Nobody starts it again in this process. It
//     counts until the program does, or shuts it down. A [Runner] starts its jobs again, so
//     they do not count.
//   - The scheduler of a job has stood still for a minute: what it has called does not return,
//     such as a logger or a type of jobs. Requests to the store return sooner; give registries a
//     RequestTimeout below that.
//   - The store was put back to a state without a job, or replaced by an empty one: a restart sets the job up again.
//
// A restart does not help, and ends runs of other jobs, in all else: the store is away, the
// session was lost, a configuration is wrong, a job has any other fault, an operator has removed
// the instance or the job. All processes of a fleet see these at the same time, so they would
// restart together. A handler that does not return is no reason either: Config.Timeout ends it.
// After the call of Shutdown a node is live, so that it may drain.
func (n *Node) Live() error {
	n.mu.Lock()
	isClosed := n.isClosed
	n.mu.Unlock()
	if isClosed {
		return nil
	}
	jobs := n.Jobs()
	errs := make([]error, 0, len(jobs))
	for _, s := range jobs {
		errs = append(errs, s.engine.Live())
	}
	return joinJobs("cannot go on without a restart", len(jobs), errs)
}

// Ready returns nil if the process takes its part: the program has called [Node.Run], by which it
// says that it has started the jobs that it begins with, and no job starts for the first time any
// more; each has started, or was refused. A [Runner] has to have read the namespace, and to have
// tried each job that it found there. Ready is meant for a readiness probe of Kubernetes, by which
// a rollout goes on to the next process, and a Service sends traffic. The error says what is
// awaited; it is ErrNodeClosed once Shutdown was called, or the context of Run has ended.
//
// What happens later does not count. If the store is away, all processes notice, and each comes
// back by itself: if they were not ready meanwhile, a Service would lose all of its endpoints, even
// those that need no store, and nothing would be won. A new process cannot register then, so a
// rollout stops by itself. And if one job is configured wrongly, or was removed, that must
// not stop the rollout of the others, nor of the program that would correct it. [Node.Faults] has
// all of that.
func (n *Node) Ready() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.isClosed:
		return ErrNodeClosed
	case n.runner != nil: // it starts jobs again and again, which is no reason
		return n.runner.server.Ready()
	case !n.isRun:
		return errors.New("job: node: Run was not called yet")
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(n.first)) {
		errs = append(errs, fmt.Errorf("job %s: it starts", short(name)))
	}
	return joinJobs("are not ready", len(n.jobs), errs)
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
