package runner

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// status is what others may know of the loop.
type status struct {
	mu        sync.Mutex
	refused   map[string]jobtype.Fault // jobs that are not served, by name
	viewFault error                    // the namespace cannot be followed
	unread    error                    // the namespace is not read yet; nil if it was
	untried   map[string]bool          // the jobs that it had then, and that were not tried yet
	first     int                      // how many there were
}

var (
	errNotRun  = errors.New("job: runner: Run was not called")
	errReading = errors.New("job: runner: the namespace is not read yet")
)

// setReading notes that the namespace is being read, and why it is not yet.
func (s *status) setReading(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread = errReading; err != nil {
		s.unread = fmt.Errorf("%w: %w", errReading, brief.Error(err))
	}
}

// setRead notes that the namespace was read, and which jobs are to be tried.
func (s *status) setRead(queue []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread, s.untried, s.first = nil, map[string]bool{}, len(queue)
	for _, e := range queue {
		s.untried[e.job.name] = true
	}
}

// setTried notes that a job was tried, or need not be.
func (s *status) setTried(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.untried, name)
}

// setViewFault notes why the namespace cannot be followed; nil if it can.
func (s *status) setViewFault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.viewFault = nil; err != nil {
		since := clocks.Wall()
		if stale, ok := errors.AsType[*coord.StaleError](err); ok {
			since = stale.Since
		}
		s.viewFault = jobtype.Fault{Kind: health.KindOfView(err), Err: fmt.Errorf("job: runner: view of the namespace: %w", brief.Error(err)), Since: since}
	}
}

// setRefused notes that a job is not served.
func (s *status) setRefused(name string, f jobtype.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[name] = f
}

// clearRefused notes that a job is served, or need not be.
func (s *status) clearRefused(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refused, name)
}

// Refused returns the jobs that cannot be served at present, with why.
func (r *Server) Refused() map[string]jobtype.Fault {
	s := &r.status
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.refused)
}

// ViewFault returns why the namespace cannot be followed; nil if it can.
func (r *Server) ViewFault() error {
	s := &r.status
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.viewFault
}

// Reading notes that the namespace is being read, and why it is not yet.
func (r *Server) Reading(err error) { r.status.setReading(err) }

// Ready returns nil once the namespace was read, and each job that it had then was tried. Before that the error says what it
// waits for.
func (r *Server) Ready() error {
	s := &r.status
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
