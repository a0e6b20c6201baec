package engine

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// departure is how far this instance is on its way out, and why.
type departure struct {
	stage stage
	cause error // nil while running, and if the session has ended or none came
	err   error // what the loop returns, once it is terminated
}

// stage is how far an instance is on its way out.
//
//	running ──► draining ──► cancelling ──► terminated
//
// draining is left out if the job was removed, cancelling if the handlers return in time.
// An instance whose session has ended while it was leaving is terminated at once.
type stage int

const (
	running stage = iota
	// draining: this instance claims nothing more. What it has claimed may come to its end.
	draining
	// cancelling: the contexts of handlers have ended, and handlers have time to return.
	cancelling
	// terminated: nothing is left to be done, and the loop ends.
	terminated
)

// drain begins the stage draining.
func (d *departure) drain(cause error) { d.stage, d.cause = draining, cause }

// isForRemoval reports whether the job is gone: somebody has removed it, or the store was put back to a state without it.
func (d *departure) isForRemoval() bool {
	return errors.Is(d.cause, jobtype.ErrJobRemoved) || errors.Is(d.cause, coord.ErrRestored)
}

// reason returns why this instance has left; nil after a Shutdown.
func (d *departure) reason(job jobtree.Job) error {
	if d.cause == nil || errors.Is(d.cause, jobtype.ErrShutdown) {
		return nil
	}
	return fmt.Errorf("job %s: %w", job, d.cause)
}
