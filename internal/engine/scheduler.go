package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Scheduler runs one job in this process.
type Scheduler struct {
	c             *controller
	beginShutdown context.CancelFunc // asks for a shutdown
	endDrain      context.CancelFunc // ends the time to drain
	done          chan struct{}
	err           error         // once done is closed
	deregistered  chan struct{} // closed once this instance is out of the tree, or its session has ended

	controllerEnded chan struct{}  // closed when the controller has released all that it had
	follow          sync.Once      // starts Live.FollowSession
	following       sync.WaitGroup // waits for it
}

// ErrInHandler is the error that package job describes under this name.
var ErrInHandler = errors.New("job: Shutdown called by a handler of the same job")

// Params are what a job is started with.
type Params struct {
	Registry     coord.Registry
	Pool         *pool.Pool
	Options      *setup.Options
	Deregistered func() // is called when the instance is out of the tree; may be nil
}

// Start starts a job by the configuration of a program. It returns when the process is registered.
func Start(ctx context.Context, p Params, c jobtype.Config, h jobtype.Handler) (*Scheduler, error) {
	if setup.IsNil(p.Registry) || setup.IsNil(h) {
		return nil, fmt.Errorf("job %s: a registry and a handler are needed", c.Name)
	}
	given, err := p.Options.Prepare(c, h)
	if err != nil {
		return nil, err
	}
	view, err := openView(ctx, p.Registry, c.Name, p.Options)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", c.Name, err)
	}
	return launch(ctx, p, view, given, given.Config)
}

// Declare takes another configuration of the program, for the differences that it tells: with the next pass, which it does
// not ask for, because a change of the registry's configuration mostly follows.
func (s *Scheduler) Declare(c jobtype.Config) {
	s.c.declared.Store(new(c.WithDefaults())) // which is a copy
	s.c.fullRequested.Store(true)
}

// launch starts a job with a view that has just been opened. given is the program's configuration; zero if it has none.
func launch(ctx context.Context, p Params, view coord.View, settings *setup.Settings, given jobtype.Config) (*Scheduler, error) {
	s := &Scheduler{
		c:    newController(p.Registry, view, settings, p.Options, given),
		done: make(chan struct{}), deregistered: make(chan struct{}), controllerEnded: make(chan struct{}),
	}
	registered := make(chan struct{})
	s.c.started = sync.OnceFunc(func() { close(registered) })
	var shutdown, stopping context.Context
	shutdown, s.beginShutdown = context.WithCancel(context.Background())
	stopping, s.endDrain = context.WithCancel(context.Background())
	s.c.connect(p.Pool.Join(s.c.requestFullPass), shutdown, stopping)
	err := s.c.setUp(ctx)
	if err != nil {
		s.beginShutdown()
	}
	if err != nil && s.c.registration == unasked {
		s.endDrain()
		s.c.reporter.Close()
		s.c.pool.Items.Leave()
		view.Close()
		return nil, err
	}
	go func() {
		if p.Deregistered != nil {
			defer p.Deregistered()
		}
		defer close(s.deregistered)
		s.run()
		s.c.retryDeregister()
	}()
	if err != nil { // but this instance may be in the tree, or come there
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	select {
	case <-registered:
		return s, nil
	case <-s.done:
		if isClosed(registered) { // and then it has stopped, as a job does that has expired
			return s, nil
		}
		return nil, cmp.Or(s.err, fmt.Errorf("job %s: stopped while it was starting", settings.Name))
	case <-ctx.Done():
		err := fmt.Errorf("job %s: start: %w", settings.Name, context.Cause(ctx))
		faults := s.Status().Fault() // which Shutdown ends
		return nil, errors.Join(err, faults, s.Shutdown(ctx))
	}
}

// run runs the controller. If it ends with an error, this instance leaves in order.
func (s *Scheduler) run() {
	defer close(s.done)
	defer s.c.reporter.Close()
	defer s.following.Wait()
	defer s.endDrain()
	s.c.awaitBootstrap()
	hasLeft, err := s.c.loop()
	s.err = err
	s.c.close(hasLeft, err)
	s.c.flusher.FlushAll(s.c.drainTime, s.c.settings.Errors)
	s.c.options.Thrown.Close()
	s.c.faults.End(s.c.self.ID)
	s.c.reporter.Left(err)
	close(s.controllerEnded)
}

// close releases what a controller has, after its loop. hasLeft is false if the loop has ended by err, so that
// abort has to take this instance out of the tree.
func (c *controller) close(hasLeft bool, err error) {
	c.live.SetWorking(true)
	defer c.live.End()
	defer c.view.Close()
	defer c.schedule.Leave()
	defer c.pool.Threads.Cancel()
	defer func() {
		if c.pool.Items.Leave() {
			c.pool.Announcement.LastLeft(c.session, c.reg)
		}
	}()
	defer c.failoverQueue.Wait()
	c.failoverQueue.Leave()
	defer c.awaitHandlers()
	if hasLeft {
		return
	}
	c.log.Error("the scheduler stops, because it cannot go on", zap.Error(err))
	c.abort()
}

// awaitHandlers waits until all handlers have returned, for what is left of their grace at most.
func (c *controller) awaitHandlers() {
	idle := make(chan struct{})
	go func() {
		c.working.Wait()
		close(idle)
	}()
	left := c.graceLeft(c.moment())
	timer := time.NewTimer(left)
	defer timer.Stop()
	c.live.SetWorking(false)
	defer c.live.SetWorking(true)
	select {
	case <-idle:
	case <-timer.C:
		c.log.Error("handlers do not return although their contexts have ended")
	}
}

// Shutdown takes this instance out of the job: see job.Scheduler.Shutdown. The end of ctx ends the time to drain.
func (s *Scheduler) Shutdown(ctx context.Context) error {
	s.BeginShutdown()
	if exec.OwnerOf(ctx) == any(s.c) {
		return fmt.Errorf("job %s: %w", s.c.job, ErrInHandler)
	}
	detach := context.AfterFunc(ctx, s.endDrain)
	defer detach()
	<-s.done
	select {
	case <-s.deregistered:
	case <-ctx.Done():
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return errors.Join(s.err, s.c.handoverErr)
}

// BeginShutdown asks for a shutdown, and does not wait for it.
func (s *Scheduler) BeginShutdown() {
	s.beginShutdown()
	s.c.live.Wake()
	s.c.requestFullPass()
}

// Name returns the name of the job.
func (s *Scheduler) Name() string { return string(s.c.job) }

// Done is closed when the scheduler has stopped: after Shutdown, after an operator has
// removed the instance or the job, or after the registry was closed. If this instance's
// nodes could not be removed, that is tried again in the background: see Shutdown.
func (s *Scheduler) Done() <-chan struct{} { return s.done }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// IsDone reports whether Done is closed.
func (s *Scheduler) IsDone() bool { return isClosed(s.done) }

// Err says why the scheduler has stopped, once Done is closed: nil after Shutdown,
// ErrInstanceRemoved or ErrJobRemoved, or what went wrong.
func (s *Scheduler) Err() error {
	if !s.IsDone() {
		return nil
	}
	return s.err
}

// Status returns how the scheduler stands at this moment.
func (s *Scheduler) Status() jobtype.Status {
	status := s.c.live.Status()
	status.Leaving = status.Leaving || s.c.isShutdown()
	return status
}

// Snapshot returns the tree of the job as this process sees it. After the scheduler has stopped it is the last
// one. What the store has may be newer: a view is late for some milliseconds. Paths are those of package coord.
func (s *Scheduler) Snapshot() coord.Snapshot { return s.c.view.Snapshot() }

// Changed returns a channel that is closed when Status has changed since the call. What only time changes, such as
// the next tick, does not count. Take the channel first, then the status, then wait.
func (s *Scheduler) Changed() <-chan struct{} {
	changed := s.c.live.Changed()
	if changed == nil {
		return s.controllerEnded
	}
	s.follow.Do(func() { s.following.Go(func() { s.c.live.FollowSession(s.controllerEnded) }) })
	return changed
}

// IsDeregistered reports whether a scheduler has stopped and this instance is out of the tree.
func (s *Scheduler) IsDeregistered() bool { return isClosed(s.deregistered) }

// EndDrain ends the time that handlers have to return.
func (s *Scheduler) EndDrain() { s.endDrain() }

// Configuration is the number of the commit that has written the configuration by which the scheduler ran. It must have ended.
func (s *Scheduler) Configuration() int64 { return s.c.settings.Modified }

// Faults returns what is at fault now.
func (s *Scheduler) Faults() []jobtype.Fault { return s.c.live.Faults() }

// Errors returns the channel of the error handler THROW.
func (s *Scheduler) Errors() <-chan *jobtype.ExecutionError { return s.c.options.Thrown.Errors() }

// Live returns nil unless only a restart of the process can make the job go on here.
func (s *Scheduler) Live() error {
	err := s.Err()
	switch {
	case s.c.isShutdown(), errors.Is(err, jobtype.ErrJobRemoved), errors.Is(err, jobtype.ErrInstanceRemoved):
		return nil
	case err != nil:
		return err
	}
	if d := s.c.live.StuckFor(); d > 0 {
		return fmt.Errorf("job %s: the scheduler has got no further for %v: what it called does not return", s.Name(), d.Round(time.Second))
	}
	return nil
}
