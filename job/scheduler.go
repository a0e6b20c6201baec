package job

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine"
)

// Scheduler runs one job in this process, as one of its instances, until Shutdown. Its
// methods may be called from any goroutine.
type Scheduler struct {
	engine *engine.Scheduler
	node   *Node
}

// Schedule joins a job that fires by a cron expression, or, if Config.Cron is empty, a one-off job: its
// items run only when it is triggered, by [Scheduler.Trigger] of any of its instances or by an
// operator. The log says at the start which of them it is. The first process writes its
// configuration to the registry. Later ones take the configuration from there, unless their
// own replaces it: because its Config.Revision is larger, or Config.Overwrite is set. If it does not,
// and differs, a warning in the log says what differs and what to do. Schedule returns when this
// process is registered. From then on the job runs until [Scheduler.Shutdown]. ctx bounds the start only.
//
// The registry stays the caller's. One registry is enough for any number of jobs; close it
// after the last Shutdown.
//
// Errors: a *ConfigError, which names the fields, for a configuration that is wrong, here or
// in the registry; ErrImplementationConflict; ErrKindConflict; ErrOldMembers; ErrJobRemoved; those of the registry.
func Schedule(ctx context.Context, reg coord.Registry, c Config, h Handler, opts ...Option) (*Scheduler, error) {
	return alone(reg).Schedule(ctx, c, h, opts...)
}

// Shutdown takes this instance out of the job. It stops firing at once, gives leadership and
// idle items to others, and waits until the handlers that run have returned. If ctx ends
// before that, the contexts of these handlers end with ErrShutdown. With failover on, their
// items are run again elsewhere, once the handlers have returned or WithCancelGrace has
// passed.
//
// After the end of ctx, Shutdown waits up to WithCancelGrace for handlers, up to 5 s for the
// store, and for requests that are under way. If this instance's nodes cannot be removed,
// Shutdown tries again until ctx ends; after that the scheduler tries in the background
// until the session ends. Call Shutdown again to wait for that, or close the registry.
//
// The error says which handlers still run, that the registry could not be told everything,
// or why the scheduler had stopped before (see Err). Shutdown may be called several times:
// the context that ends first counts.
//
// A handler must not wait for its own end. If it calls Shutdown with the context that it was
// given, or with one derived from it, it gets ErrInHandler at once, and the scheduler shuts
// down when its runs have ended. With any other context it has to call Shutdown in another
// goroutine.
func (s *Scheduler) Shutdown(ctx context.Context) error {
	err := s.engine.Shutdown(ctx)
	if !errors.Is(err, ErrInHandler) {
		s.node.forget(s)
	}
	return err
}

// Name returns the name of the job.
func (s *Scheduler) Name() string { return s.engine.Name() }

// Done is closed when the scheduler has stopped: after Shutdown, after an operator has
// removed the instance or the job, or after the registry was closed. If this instance's
// nodes could not be removed, that is tried again in the background: see Shutdown.
func (s *Scheduler) Done() <-chan struct{} { return s.engine.Done() }

// Err says why the scheduler has stopped, once Done is closed: nil after Shutdown,
// ErrInstanceRemoved or ErrJobRemoved, or what went wrong.
func (s *Scheduler) Err() error { return s.engine.Err() }

// Status returns how the scheduler stands at this moment.
func (s *Scheduler) Status() Status { return s.engine.Status() }

// Snapshot returns the tree of the job as this process sees it. After the scheduler has stopped it
// is the last one. What the store has may be newer: a view is late for some milliseconds. Paths
// are those of package coord.
func (s *Scheduler) Snapshot() coord.Snapshot { return s.engine.Snapshot() }

// Changed returns a channel that is closed when Status has changed since the call. What only
// time changes, such as the next tick, does not count. Take the channel first, then the
// status, then wait.
func (s *Scheduler) Changed() <-chan struct{} { return s.engine.Changed() }

// Declare says which configuration the program has by now, where it has read its own again while the job runs. It changes
// nothing in the registry, as Update of package ops does: Status.Differs, package ops/doctor, the console and the metric
// elasticjob_config_differs compare the two, 30 s later at most.
func (s *Scheduler) Declare(c Config) { s.engine.Declare(c) }

// Trigger asks the instances of the job to run items now, beside the schedule. Each item
// runs on its owner, whoever that is by then. Requests wait for an item in the order in which
// they were made, and each runs it with its own parameter: after the execution that is under
// way, and before the next tick. An execution that is cut short is run again if failover is
// on. Disabled items do not run; their outcome is SKIPPED. During a pause triggered items run.
//
// Trigger returns when the registry has the request, not when the items have run: see
// Wait of [Requested]. What is in the registry survives the end of all processes. A program that has no scheduler of the
// job triggers it with package ops.
//
// Errors: ErrShutdown after Shutdown, or why the scheduler has stopped otherwise (see Err);
// ErrKeyUsed; ErrNoItem; ErrNobodyRunsIt if there is no enabled Go member that could take an
// item, or if none of the instances that are named owns an item; ErrQueueFull, if 100 requests
// wait for an item or 1000 for the job; those of a commit. An item of a JVM member is given to
// that member in ElasticJob's way: it runs all of its items, without the parameter, and the
// outcome is SKIPPED. JVM and Beside of [Requested] say so in advance.
func (s *Scheduler) Trigger(ctx context.Context, r TriggerRequest) (*Requested, error) {
	return s.engine.Trigger(ctx, r)
}

// Thrown returns the channel to which the error handler THROW sends failed executions; see
// Config.ErrorHandler. It is closed when the scheduler has stopped. 100 errors wait in it: a
// program that is farther behind misses the newest ones, and the log says how many.
//
// In ElasticJob THROW throws the error in the thread of the job, where nobody can catch it,
// and ends the trigger half-way (B-52). Here a failed item is that, and nothing more.
func (s *Scheduler) Thrown() <-chan *ExecutionError { return s.engine.Errors() }
