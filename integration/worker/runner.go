package worker

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// newRunner makes the runner, and its node that of the worker.
func (w *worker) newRunner() (err error) {
	w.runner, err = job.NewRunner(w.reg, job.RunnerConfig{
		NodeConfig: job.NodeConfig{Options: append(w.options(), job.WithObserver(w.observer()))},
		Handlers:   map[string]job.Handler{Kind: job.OfType(Kind, w.kind())},
	})
	if err == nil {
		w.node = w.runner.Node
	}
	return err
}

// observer writes down what a worker that joins by command writes down of its schedulers.
func (w *worker) observer() job.Observer {
	return func(e job.Event) {
		switch e.Kind {
		case jobtype.EventJoined:
			w.observed(history.Joined, e, "", nil)
		case jobtype.EventLeft:
			if !errors.Is(e.Err, coord.ErrSessionLost) { // then it comes back by itself
				w.observed(history.Left, e, "", e.Err)
			}
		case jobtype.EventFault:
			if e.Over {
				w.observed(history.Sound, e, e.Fault.Kind.String(), nil)
			} else {
				w.observed(history.Faulty, e, e.Fault.Kind.String(), e.Fault.Err)
			}
		}
	}
}

func (w *worker) observed(kind history.Kind, of job.Event, name string, err error) {
	e := history.Now(kind)
	e.Job, e.Instance, e.Name = of.JobName, of.InstanceID, name
	if err != nil {
		text := err.Error()
		e.Err = text[:min(len(text), maxText)]
	}
	w.log.Add(e)
}

// serveJobs runs the runner, once the registry is dialled, until it is shut down.
func (w *worker) serveJobs(dialled <-chan struct{}) {
	<-dialled
	if w.runner == nil {
		return
	}
	if err := w.runner.Run(context.Background()); err != nil {
		w.zap.Warn("runner", zap.Error(err)) // the store may be away
	}
}

// dismiss shuts the runner down; handlers get the time of drain.
func (w *worker) dismiss(drain time.Duration) {
	if w.runner == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	_ = w.runner.Shutdown(ctx) // Run returns the same
}
