package memory

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
	"github.com/elasticjob-go/elasticjob/internal/slogzap"
)

// Config is the configuration of one registry.
type Config struct {
	// Namespace is the path in the store below which all nodes of the registry lie.
	// Required.
	Namespace string
	// Name identifies the registry in [Fault.Registry] and in log lines.
	Name string
	// SessionTimeout is how long the store keeps a session that is not renewed; at
	// least 1 s. Default 10 s.
	SessionTimeout time.Duration
	// RequestTimeout bounds each call while the link brings no answer. Default 3 s.
	RequestTimeout time.Duration
	// Logger is told when the session changes. nil means silence, unless Slog is set.
	Logger *zap.Logger
	// Slog is for programs that log with log/slog: it is told what Logger would be.
	// Only one of the two may be set.
	Slog *slog.Logger
}

// Validate checks what Dial checks before it connects. The error wraps [coord.ErrInvalidConfig].
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

func (c Config) withDefaults() (Config, error) {
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 10 * time.Second
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 3 * time.Second
	}
	if c.Logger != nil && c.Slog != nil {
		return c, fmt.Errorf("memory: %w: Logger and Slog are both set; allowed is one of them", coord.ErrInvalidConfig)
	}
	if c.Logger == nil {
		c.Logger = slogzap.Zap(c.Slog)
	}
	if err := coord.ValidatePath(c.Namespace); err != nil {
		return c, fmt.Errorf("memory: %w: namespace: %w", coord.ErrInvalidConfig, err)
	}
	if c.SessionTimeout < time.Second {
		return c, fmt.Errorf("memory: %w: session time-out %v, at least 1s is needed", coord.ErrInvalidConfig, c.SessionTimeout)
	}
	if c.RequestTimeout < 0 {
		return c, fmt.Errorf("memory: %w: request time-out %v", coord.ErrInvalidConfig, c.RequestTimeout)
	}
	return c, nil
}

// Registry implements [coord.Registry]. Its link to the store can be broken; see
// [Registry.Link].
type Registry struct {
	store  *Store
	ns     *namespace
	config Config
	done   chan struct{} // closed when Close begins
	ended  chan struct{} // closed when Close has ended

	// All below is guarded by store.mu.
	state       linkState
	delay, lag  time.Duration
	linkChanged broadcast.Signal
	session     *session         // nil between a lost session and the next
	restored    bool             // the store was put back during this session
	opened      broadcast.Signal // there is a session again
	opening     *alarm           // the next attempt to open a session
	views       map[*view]struct{}
	silentSince time.Time         // the store has not answered since this time of day; zero while it does
	outage      *coord.StaleError // the fault of all views; nil if there is none
	outageAlarm *alarm            // begins it
	alarms      sync.WaitGroup    // all alarms of this registry
	running     sync.WaitGroup    // what start runs
	closed      bool
}

var _ coord.Registry = (*Registry)(nil)

// Dial opens a registry with its session.
//
// Errors: ErrInvalidConfig, ErrUnavailable while the store is down, the cause of ctx.
func (s *Store) Dial(ctx context.Context, c Config) (*Registry, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Registry{
		store:  s,
		config: c,
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
		views:  map[*view]struct{}{},
	}
	s.mu.Lock()
	r.lag = s.lag
	r.ns = s.namespace(c.Namespace)
	s.mu.Unlock()
	err = r.call(ctx, call{method: Open}, func() error {
		s.registries[r] = struct{}{}
		r.begin()
		return nil
	})
	if err != nil {
		_ = r.Close(context.Background()) // there is no session to end, or the store is down
		return nil, err
	}
	return r, nil
}

// reachable reports whether requests and answers pass the link.
func (r *Registry) reachable() bool { return r.state == sound && !r.store.down }

// start runs a function that Close waits for. It reports false after Close.
func (r *Registry) start(f func()) bool {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	if r.closed {
		return false
	}
	r.running.Go(f)
	return true
}

// checkOpen returns why a call must not begin, or nil.
func (r *Registry) checkOpen(ctx context.Context, c call) error {
	if r.closed && c.method != Close {
		return coord.ErrClosed
	}
	return context.Cause(ctx)
}

// call makes one call to the store, over the link, with the fault that is set for it. do is what the
// store does: it runs under the store's lock, at most once, and with a fault maybe after call has
// returned.
func (r *Registry) call(ctx context.Context, c call, do func() error) error {
	s := r.store
	s.mu.Lock()
	if err := r.checkOpen(ctx, c); err != nil {
		s.mu.Unlock()
		return fail(c, err)
	}
	in := s.faultFor(r.config.Name, c)
	if in == nil && r.reachable() && r.delay == 0 {
		err := do()
		s.mu.Unlock()
		return fail(c, err)
	}
	s.mu.Unlock()
	return fail(c, r.callWithFaults(ctx, c, in, do))
}

// callWithFaults is call if a fault is set (in is not nil) or the link is not sound.
func (r *Registry) callWithFaults(ctx context.Context, c call, in *Injection, do func() error) error {
	s := r.store
	done := r.done
	if c.method == Close {
		done = nil // Close has closed it, and makes this call
	}
	var f Fault
	if in != nil {
		f = in.fault
	}
	if f.Delay > 0 {
		if err := wait(ctx, done, f.Delay); err != nil {
			return err
		}
	}
	if f.Before != nil {
		if f.Late > 0 && c.method.writes() {
			s.runLate(f.Late, do)
		}
		return f.Before
	}

	timeout, stop := r.requestTimeout()
	defer stop()
	for sent := false; ; sent = true {
		s.mu.Lock()
		if err := r.checkOpen(ctx, c); err != nil {
			s.mu.Unlock()
			if sent {
				err = unanswered(c, err)
			}
			return err
		}
		if s.down || r.state == cut {
			s.mu.Unlock()
			if sent {
				return unanswered(c, nil)
			}
			return coord.ErrUnavailable
		}
		if r.state != blackHoled {
			break
		}
		changed := r.linkChanged.Next()
		s.mu.Unlock()
		select {
		case <-changed:
		case <-done:
			return unanswered(c, coord.ErrClosed)
		case <-ctx.Done():
			return unanswered(c, context.Cause(ctx))
		case <-timeout:
			return unanswered(c, errTimeout)
		}
	}
	dropped, delay, changed := r.state == answersDropped, r.delay, r.linkChanged.Next()
	err := do()
	s.mu.Unlock()

	if f.After != nil {
		return f.After
	}
	if !dropped && delay == 0 {
		return err
	}
	var answer <-chan time.Time
	if !dropped {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		answer, changed = timer.C, nil
	}
	select {
	case <-answer:
		return err
	case <-changed:
		return unanswered(c, nil) // the connection that owed the answer is gone
	case <-done:
		return unanswered(c, coord.ErrClosed)
	case <-ctx.Done():
		return unanswered(c, context.Cause(ctx))
	case <-timeout:
		return unanswered(c, errTimeout)
	}
}

// runLate carries out a call after a while whose caller has got an error already: so a commit happens
// of which the caller believes that it failed. Close stops what is still to come.
func (s *Store) runLate(after time.Duration, do func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(slices.DeleteFunc(s.late, (*alarm).isOver), s.arm(&s.alarms, after, func() { _ = do() })) // the caller is gone, so nobody gets its error
}

func wait(ctx context.Context, done <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-done:
		return coord.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Registry) requestTimeout() (<-chan time.Time, func() bool) {
	timer := time.NewTimer(r.config.RequestTimeout)
	return timer.C, timer.Stop
}

// applyLink applies a change of the link's state to the session, the views and the outage.
// noteRenewals has to be called before the state changes.
func (r *Registry) applyLink() {
	r.linkChanged.Fire()
	if r.closed {
		return
	}
	if r.session != nil {
		r.session.applyLink()
	}
	for v := range r.views {
		v.applyLink()
	}
	r.watchOutage()
	if !r.reachable() {
		r.opening.stop()
		return
	}
	if r.session == nil && (r.opening == nil || r.opening.over) {
		r.open()
	}
}

// watchOutage arms the alarm that gives the views a fault if the store cannot be reached, and clears
// the fault if it can.
func (r *Registry) watchOutage() {
	r.outageAlarm.stop()
	if r.reachable() {
		r.silentSince = time.Time{}
		r.setOutage(nil)
		return
	}
	now := time.Now()
	if r.silentSince.IsZero() {
		r.silentSince = now.Round(0)
	}
	due := now.Add(liveness.Grace)
	if r.session != nil {
		due = r.session.outageBegins(due)
	}
	r.outageAlarm = r.store.arm(&r.alarms, due.Sub(now), func() {
		r.setOutage(&coord.StaleError{Since: r.silentSince, Err: fmt.Errorf("memory: %w: it does not answer", coord.ErrUnavailable)})
	})
}

func (r *Registry) setOutage(fault *coord.StaleError) {
	if (fault == nil) == (r.outage == nil) {
		return
	}
	r.outage = fault
	for v := range r.views {
		v.changed.Fire()
	}
}

// Get implements [coord.Registry].
func (r *Registry) Get(ctx context.Context, path string) (coord.Node, error) {
	if err := coord.ValidatePath(path); err != nil {
		return coord.Node{}, fmt.Errorf("memory: get: %w", err)
	}
	var node coord.Node
	err := r.call(ctx, call{method: Get, path: path}, func() error {
		e, ok := r.ns.entries[path]
		if !ok {
			return coord.ErrNoNode
		}
		node = e.node
		return nil
	})
	if err != nil {
		return coord.Node{}, err
	}
	return node, nil
}

// GetAll implements [coord.Registry]. For a fault it is a Get of each path.
func (r *Registry) GetAll(ctx context.Context, paths []string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		for _, path := range paths {
			if !yield(r.Get(ctx, path)) {
				return
			}
		}
	}
}

// List implements [coord.Registry].
func (r *Registry) List(ctx context.Context, path string) ([]coord.Node, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("memory: list: %w", err)
	}
	var snapshot coord.Snapshot
	err := r.call(ctx, call{method: List, path: path}, func() error {
		snapshot = r.ns.snapshot()
		if path != "" && !snapshot.Exists(path) {
			return coord.ErrNoNode
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	names := snapshot.Children(path)
	nodes := make([]coord.Node, 0, len(names))
	for _, name := range names {
		if n, ok := snapshot.Get(coord.Join(path, name)); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// Clock implements [coord.Registry]. The clock is exact, and always known.
func (r *Registry) Clock() coord.Clock {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	now := time.Now()
	return coord.NewClock(now, now.Add(r.store.offset), 0)
}

// Close implements [coord.Registry].
func (r *Registry) Close(ctx context.Context) error {
	s := r.store
	s.mu.Lock()
	if r.closed {
		s.mu.Unlock()
		<-r.ended
		return nil
	}
	r.noteRenewals()
	r.closed = true
	close(r.done)
	session := r.session
	if session != nil {
		session.end(coord.ErrClosed)
		s.startExpiry(session.lease, session.arrived) // in case the call below fails
	}
	for v := range r.views {
		v.end(coord.ErrClosed)
	}
	r.opening.stop()
	r.outageAlarm.stop()
	s.mu.Unlock()
	r.alarms.Wait()
	r.running.Wait()

	var err error
	if session != nil {
		err = r.call(ctx, call{method: Close}, func() error {
			s.endLease(session.lease)
			return nil
		})
	}
	s.mu.Lock()
	delete(s.registries, r)
	s.mu.Unlock()
	close(r.ended)
	return err
}
