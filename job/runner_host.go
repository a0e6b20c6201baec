package job

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// runnerHost starts schedulers for the server of a Runner.
type runnerHost struct{ r *Runner }

// Start implements [runner.Host].
func (h runnerHost) Start(ctx context.Context, name, offer string) (runner.Scheduler, error) {
	var s *Scheduler
	err := setup.Guarded(func() (err error) {
		s, err = h.r.join(ctx, name, h.r.handlers[offer], []Option{WithImplementation(offer)})
		return err
	})
	return hosted{s}, err
}

// Running implements [runner.Host].
func (h runnerHost) Running(name string) runner.Scheduler {
	if s := h.r.Job(name); s != nil {
		return hosted{s}
	}
	return nil
}

// KindOf implements [runner.Host].
func (h runnerHost) KindOf(err error) FaultKind {
	if errors.Is(err, coord.ErrDenied) || errors.Is(err, coord.ErrTooLarge) { // whatever the scheduler has called it
		return jobtype.FaultTree
	}
	if f, ok := errors.AsType[Fault](err); ok {
		return f.Kind
	}
	_, isPanic := errors.AsType[*PanicError](err)
	switch {
	case health.IsAway(err), errors.Is(err, coord.ErrUnknownOutcome), errors.Is(err, coord.ErrConflict), errors.Is(err, runner.ErrSlowStart):
		return jobtype.FaultStore
	case isPanic, errors.Is(err, runner.ErrEnded), errors.Is(err, runner.ErrStuck):
		return jobtype.FaultStarvation
	}
	return jobtype.FaultConfig
}

// hosted is a scheduler as the server of a Runner sees it.
type hosted struct{ *Scheduler }

// Ended implements [runner.Scheduler].
func (h hosted) Ended() bool { return h.engine.IsDeregistered() }

// BeginShutdown implements [runner.Scheduler].
func (h hosted) BeginShutdown() { h.engine.BeginShutdown() }

// EndDrain implements [runner.Scheduler].
func (h hosted) EndDrain() { h.engine.EndDrain() }

// Configuration implements [runner.Scheduler]. The scheduler has ended.
func (h hosted) Configuration() int64 { return h.engine.Configuration() }

// Forget implements [runner.Scheduler].
func (h hosted) Forget() { h.node.forget(h.Scheduler) }
