package jobfile

import (
	"errors"
	"iter"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Health returns what the section health shows, for [health.Handler] of a program that listens by
// itself. It differs from that of the node: the process is ready when each job was tried once, and
// the faults of the files come first.
func (a *App) Health() health.Node { return healthOf{a} }

// healthOf is the health of an App.
type healthOf struct{ app *App }

// Live is that of the node: see [job.Node.Live]. A job that stops by itself is started again, so
// there is less to say than for other programs.
func (h healthOf) Live() error { return h.app.node.Live() }

// Ready returns nil from the time on when each job was tried once, until the shutdown begins. A
// job that did not start then is a fault, and makes nobody unready.
func (h healthOf) Ready() error {
	switch {
	case h.app.jobsEnd.Err() != nil:
		return ErrClosed
	case !h.app.started.Load():
		return errors.New("jobfile: the jobs start")
	case h.app.runner != nil:
		return h.app.node.Ready() // once it has read the namespace, and tried the jobs that it has found
	}
	return nil
}

// Faults goes over those of the files, and then over those of the jobs.
func (h healthOf) Faults() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, f := range h.app.Faults() {
			if !yield(f.Job, job.Fault{Kind: jobtype.FaultConfig, Err: f.Err, Since: f.Since}) {
				return
			}
		}
		h.app.node.Faults()(yield)
	}
}
