package job

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
)

// Scheduler runs one job in this process, as one of its instances, until Shutdown. Its
// methods may be called from any goroutine.
type Scheduler struct {
	c     *controller
	node  *Node
	leave context.CancelFunc // asks for a shutdown
	stop  context.CancelFunc // ends the time to drain
	done  chan struct{}
	err   error         // once done is closed
	gone  chan struct{} // closed once this instance is out of the tree, or its session has ended

	over      chan struct{}  // closed when the controller has ended
	follow    sync.Once      // starts followSession
	following sync.WaitGroup // waits for followSession
}

// Schedule joins a job that fires by a cron expression. The first process writes its
// configuration to the registry. Later ones take the configuration from there, unless their
// own replaces it: because Config.Overwrite is set, or by [WithPrecedence] with
// PrecedenceCode and a larger Config.Revision. Schedule returns when this process is
// registered. From then on the job runs until [Scheduler.Shutdown]. ctx bounds the start only.
//
// The registry stays the caller's. One registry is enough for any number of jobs; close it
// after the last Shutdown.
//
// Errors: a *ConfigError, which names the fields, for a configuration that is wrong, here or
// in the registry; ErrConfigDiffers, with PrecedenceNone; ErrImplementationConflict;
// ErrKindConflict; ErrJobRemoved; those of the registry.
func Schedule(ctx context.Context, reg coord.Registry, c Config, h Handler, opts ...Option) (*Scheduler, error) {
	return alone(reg).Schedule(ctx, c, h, opts...)
}

// OneOff joins a job that has no cron expression: its items run when it is triggered,
// by [Scheduler.Trigger] of any of its instances or by an operator. Otherwise it is
// like [Schedule], failover included.
func OneOff(ctx context.Context, reg coord.Registry, c Config, h Handler, opts ...Option) (*Scheduler, error) {
	return alone(reg).OneOff(ctx, c, h, opts...)
}

// start starts a job of a node.
func start(ctx context.Context, n *Node, c Config, h Handler, opts []Option) (*Scheduler, error) {
	reg := n.reg
	if isNil(reg) || isNil(h) {
		return nil, fmt.Errorf("job %s: a registry and a handler are needed", c.Name)
	}
	o, err := n.optionsWith(opts)
	if err != nil {
		return nil, err
	}
	given, err := o.settle(c, h)
	if err != nil {
		return nil, err
	}
	if err := o.precedence.check(given.Config); err != nil {
		return nil, err
	}
	view, err := openView(ctx, reg, c.Name, o)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", c.Name, err)
	}
	return n.begin(ctx, view, given, o, c.Revision)
}

// begin starts a job by the configuration that the program has given, and a view that has just
// been opened.
func (n *Node) begin(ctx context.Context, view coord.View, given *settings, o *options, revision int) (*Scheduler, error) {
	s := &Scheduler{
		c:    newController(n.reg, view, given, o, revision),
		node: n,
		done: make(chan struct{}),
		gone: make(chan struct{}),
		over: make(chan struct{}),
	}
	s.c.pool = n.pool.Join(s.c.poke)
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
		defer n.runner.schedulerGone(given.Name)
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
	s.err = fmt.Errorf("job %s: %w", s.c.job, errEnded)
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
	s.node.forget(s)
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
