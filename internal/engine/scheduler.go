package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Scheduler runs one job in this process.
type Scheduler struct {
	c     *controller
	leave context.CancelFunc // asks for a shutdown
	stop  context.CancelFunc // ends the time to drain
	done  chan struct{}
	err   error         // once done is closed
	gone  chan struct{} // closed once this instance is out of the tree, or its session has ended

	over      chan struct{}  // closed when the controller has ended
	follow    sync.Once      // starts followSession
	following sync.WaitGroup // waits for followSession
}

// Params are what a job is started with.
type Params struct {
	Registry coord.Registry
	Pool     *pool.Pool
	Options  *Options
	Gone     func() // is called when the instance is out of the tree; may be nil
}

// Start starts a job by the configuration of a program. It returns when the process is registered.
func Start(ctx context.Context, p Params, c Config, h Handler) (*Scheduler, error) {
	if IsNil(p.Registry) || IsNil(h) {
		return nil, fmt.Errorf("job %s: a registry and a handler are needed", c.Name)
	}
	given, err := p.Options.settle(c, h)
	if err != nil {
		return nil, err
	}
	if err := checkPrecedence(p.Options.Precedence, given.Config); err != nil {
		return nil, err
	}
	view, err := openView(ctx, p.Registry, c.Name, p.Options)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", c.Name, err)
	}
	return launch(ctx, p, view, given, c.Revision)
}

// Check says whether a job would take a configuration.
func Check(o *Options, c Config, h Handler) error {
	_, err := o.settle(c, h)
	return err
}

// launch starts a job by the configuration that the program has given, and a view that has just
// been opened.
func launch(ctx context.Context, p Params, view coord.View, given *settings, revision int) (*Scheduler, error) {
	s := &Scheduler{
		c:    newController(p.Registry, view, given, p.Options, revision),
		done: make(chan struct{}),
		gone: make(chan struct{}),
		over: make(chan struct{}),
	}
	s.c.pool = p.Pool.Join(s.c.poke)
	registered := make(chan struct{})
	s.c.started = sync.OnceFunc(func() { close(registered) })
	s.c.shutdown, s.leave = context.WithCancel(context.Background())
	s.c.stopping, s.stop = context.WithCancel(context.Background())
	err := s.c.setUp(ctx)
	if err != nil {
		s.leave()
	}
	if err != nil && s.c.registration == unasked {
		s.stop()
		s.c.reporter.Close()
		s.c.pool.Items.Leave()
		view.Close()
		return nil, err
	}
	go func() {
		if p.Gone != nil {
			defer p.Gone()
		}
		defer close(s.gone)
		s.run()
		s.c.deregisterLater()
	}()
	if err != nil { // but this instance may be in the tree, or come there
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	select {
	case <-registered:
		return s, nil
	case <-s.done:
		return nil, cmpErr(s.err, fmt.Errorf("job %s: stopped while it was starting", given.Name))
	case <-ctx.Done():
		err := fmt.Errorf("job %s: start: %w", given.Name, context.Cause(ctx))
		faults := s.Status().Fault() // which Shutdown ends
		return nil, errors.Join(err, faults, s.Shutdown(ctx))
	}
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// run runs the controller. Whatever ends it (an error, a panic, or runtime.Goexit in a
// function that it calls), this instance leaves in order.
func (s *Scheduler) run() {
	defer close(s.done)
	defer s.c.reporter.Close()
	defer s.following.Wait()
	defer s.stop()
	s.err = fmt.Errorf("job %s: %w", s.c.job, runner.ErrEnded)
	through := false
	defer func() {
		if v := recover(); v != nil {
			s.err = fmt.Errorf("job %s: %w", s.c.job, &PanicError{Value: v, Stack: debug.Stack()})
		}
		s.c.depart(through, s.err)
		s.c.flushAll()
		s.c.options.thrown.close()
		s.c.reportEnd(s.err)
		close(s.over)
	}()
	s.c.awaitFoundation()
	through, s.err = s.c.loop()
}

// depart releases what a controller has, after its loop. through says that this instance has
// left by itself; if it has not, because of err, bail takes it out of the tree.
func (c *controller) depart(through bool, err error) {
	c.atWork(true)
	defer c.end()
	defer c.view.Close()
	defer c.leaveCalendars()
	defer c.pool.Threads.Cancel()
	defer func() {
		if c.pool.Items.Leave() {
			c.pool.Announcement.LastLeft(c.session, c.reg)
		}
	}()
	defer c.queuing.Wait()
	c.leaveQueue()
	defer c.awaitHandlers()
	if through {
		return
	}
	c.log.Error("the scheduler stops, because it cannot go on", zap.Error(err))
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("could not leave in order; this instance's nodes end with its session", zap.Any("panic", v))
		}
	}()
	c.bail()
}

// awaitHandlers waits until all handlers have returned, for what is left of their grace at
// most.
func (c *controller) awaitHandlers() {
	idle := make(chan struct{})
	go func() {
		c.working.Wait()
		close(idle)
	}()
	left := c.giveGrace(c.moment())
	timer := time.NewTimer(left)
	defer timer.Stop()
	c.atWork(false)
	defer c.atWork(true)
	select {
	case <-idle:
	case <-timer.C:
		c.log.Error("handlers do not return although their contexts have ended")
	}
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
	s.askToLeave()
	if exec.OwnerOf(ctx) == any(s.c) {
		return fmt.Errorf("job %s: %w", s.c.job, ErrInHandler)
	}
	detach := context.AfterFunc(ctx, s.stop)
	defer detach()
	<-s.done
	select {
	case <-s.gone:
	case <-ctx.Done():
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return errors.Join(s.err, s.c.untold)
}

// askToLeave begins the shutdown.
func (s *Scheduler) askToLeave() {
	s.leave()
	s.c.mu.Lock()
	s.c.live.broadcast()
	s.c.mu.Unlock()
	s.c.poke()
}

// Name returns the name of the job.
func (s *Scheduler) Name() string { return string(s.c.job) }

// Done is closed when the scheduler has stopped: after Shutdown, after an operator has
// removed the instance or the job, or after the registry was closed. If this instance's
// nodes could not be removed, that is tried again in the background: see Shutdown.
func (s *Scheduler) Done() <-chan struct{} { return s.done }

func (s *Scheduler) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Err says why the scheduler has stopped, once Done is closed: nil after Shutdown,
// ErrInstanceRemoved or ErrJobRemoved, or what went wrong.
func (s *Scheduler) Err() error {
	if !s.isDone() {
		return nil
	}
	return s.err
}

// isGone reports whether a scheduler has stopped and this instance is out of the tree.
func isGone(s *Scheduler) bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// Status returns how the scheduler stands at this moment.
func (s *Scheduler) Status() Status { return s.c.statusNow() }

// Snapshot returns the tree of the job as this process sees it. After the scheduler has stopped it
// is the last one. What the store has may be newer: a view is late for some milliseconds. Paths
// are those of package coord.
func (s *Scheduler) Snapshot() coord.Snapshot { return s.c.view.Snapshot() }

// Changed returns a channel that is closed when Status has changed since the call. What only
// time changes, such as the next tick, does not count. Take the channel first, then the
// status, then wait.
func (s *Scheduler) Changed() <-chan struct{} {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	l := &s.c.live
	if l.ended {
		return s.over
	}
	s.follow.Do(func() { s.following.Go(s.followSession) })
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// followSession wakes those who wait for a change of the status when the session's state
// changes, even while the controller waits for the store.
func (s *Scheduler) followSession() {
	for {
		s.c.mu.Lock()
		session := s.c.live.session
		if s.c.live.entered == nil {
			s.c.live.entered = make(chan struct{})
		}
		entered := s.c.live.entered
		s.c.mu.Unlock()
		var moved <-chan struct{}
		if session != nil {
			var state coord.SessionState
			if state, moved = session.State(); state == coord.Lost {
				moved = nil
			}
		}
		select {
		case <-moved:
			s.c.mu.Lock()
			s.c.live.broadcast()
			s.c.mu.Unlock()
		case <-entered:
		case <-s.over:
			return
		}
	}
}

// Ended reports whether a scheduler has stopped and this instance is out of the tree.
func (s *Scheduler) Ended() bool { return isGone(s) }

// IsDone reports whether Done is closed.
func (s *Scheduler) IsDone() bool { return s.isDone() }

// AskToLeave begins the shutdown. Stop ends the time to drain.
func (s *Scheduler) AskToLeave() { s.askToLeave() }

// Stop ends the time that handlers have to return.
func (s *Scheduler) Stop() { s.stop() }

// Configuration is the number of the commit that has written the configuration by which the scheduler ran. It must have ended.
func (s *Scheduler) Configuration() int64 { return s.c.settings.modified }

// Faults returns what is at fault now.
func (s *Scheduler) Faults() []Fault { return s.c.faultsNow() }

// Errors returns the channel of the error handler THROW.
func (s *Scheduler) Errors() <-chan *jobtype.ExecutionError { return s.c.options.thrown.errors }

// Live returns nil unless only a restart of the process can make the job go on here.
func (s *Scheduler) Live() error {
	err := s.Err()
	switch {
	case s.c.isShutdown(), errors.Is(err, ErrJobRemoved), errors.Is(err, ErrInstanceRemoved):
		return nil
	case err != nil:
		return err
	}
	if d := s.c.standsStill(); d > 0 {
		return fmt.Errorf("job %s: the scheduler has got no further for %v: what it called does not return", s.Name(), d.Round(time.Second))
	}
	return nil
}
