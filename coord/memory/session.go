package memory

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// session implements [coord.Session]. While its link is sound it has no timer: it counts as renewed at
// every interval since base. While renewals get no answer, timers suspend it, lose it, and expire
// its lease.
type session struct {
	r        *Registry
	lease    *lease
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timeout  time.Duration
	interval time.Duration // between renewals

	// All below is guarded by store.mu.
	base      time.Time // when renewals began
	answered  time.Time // when the last renewal was sent that was answered, as of noteRenewals
	arrived   time.Time // when the last renewal was sent that the store got, as of noteRenewals
	noAnswers bool      // renewals get no answer
	arriving  bool      // renewals reach the store
	state     coord.SessionState
	changed   broadcast.Signal
	suspend   *alarm
	lost      *alarm
	refusal   *alarm // the renewal that will learn that the store dropped the session
}

// Session implements [coord.Registry].
func (r *Registry) Session(ctx context.Context) (coord.Session, error) {
	session, err := r.awaitSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("memory: session: %w", err)
	}
	return session, nil
}

// awaitSession returns a session that is not lost, and waits for one if necessary.
func (r *Registry) awaitSession(ctx context.Context) (*session, error) {
	for {
		r.store.mu.Lock()
		session, opened, closed := r.session, r.opened.Next(), r.closed
		r.store.mu.Unlock()
		if closed {
			return nil, coord.ErrClosed
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if session != nil {
			return session, nil
		}
		select {
		case <-opened:
		case <-r.done:
		case <-ctx.Done():
		}
	}
}

// begin begins a new session; the store has to be reachable.
func (r *Registry) begin() {
	ctx, cancel := context.WithCancelCause(context.Background())
	timeout := r.config.SessionTimeout
	now := time.Now()
	c := &session{
		r:        r,
		lease:    r.store.newLease(timeout),
		ctx:      ctx,
		cancel:   cancel,
		timeout:  timeout,
		interval: timeout / 3,
		base:     now,
		answered: now,
		arrived:  now,
		arriving: true,
		state:    coord.Connected,
	}
	r.session, r.restored = c, false
	r.opened.Fire()
	c.applyLink() // the link may be too slow for renewals
	r.config.Logger.Info("session opened", c.fields()...)
}

// open begins the session after a lost one, unless a fault is set for that.
func (r *Registry) open() {
	in := r.store.faultFor(r.config.Name, call{method: Open})
	switch {
	case in == nil || in.fault.Delay == 0 && in.fault.Before == nil:
		r.begin()
	case in.fault.Before != nil:
		r.opening = r.store.arm(&r.alarms, max(in.fault.Delay, r.config.SessionTimeout/3), r.open)
	default:
		r.opening = r.store.arm(&r.alarms, in.fault.Delay, r.begin)
	}
}

func (c *session) fields() []zap.Field {
	return []zap.Field{
		zap.String("namespace", c.r.config.Namespace),
		zap.String("registry", c.r.config.Name),
		zap.Int64("session", int64(c.lease.id)),
	}
}

// lastRenewalBefore returns the time of the latest scheduled renewal at or before a time.
func (c *session) lastRenewalBefore(at time.Time) time.Time {
	elapsed := max(at.Sub(c.base), 0)
	return c.base.Add(elapsed - elapsed%c.interval)
}

// renewed returns when the last renewal was sent that was answered.
func (c *session) renewed() time.Time {
	if c.noAnswers || c.state == coord.Lost {
		return c.answered
	}
	if t := c.lastRenewalBefore(time.Now().Add(-c.r.delay)); t.After(c.answered) {
		return t
	}
	return c.answered
}

// noteRenewals stores the times of the last renewals, before anything changes that they are computed
// from.
func (r *Registry) noteRenewals() {
	if c := r.session; c != nil {
		c.answered = c.renewed()
		if t := c.lastRenewalBefore(time.Now()); c.arriving && t.After(c.arrived) {
			c.arrived = t
		}
	}
}

// applyLink applies a change of the link's state to the session.
func (c *session) applyLink() {
	s, r := c.r.store, c.r
	if r.reachable() && (r.restored || s.leases[c.lease.id] == nil && c.noAnswers) {
		r.lose(c) // the first renewal over the healed link is refused
		return
	}
	frozen := !r.reachable() || r.delay >= c.interval
	c.arriving = !s.down && r.state != cut && r.state != blackHoled
	now := time.Now()
	switch {
	case frozen && !c.noAnswers:
		c.noAnswers = true
		c.refusal.stop()
		c.lost = s.arm(&r.alarms, c.deadline().Sub(now), func() { r.lose(c) })
		unanswered := c.lastRenewalBefore(now).Add(2 * c.interval) // when the answer to the next renewal is overdue
		c.suspend = s.arm(&r.alarms, unanswered.Sub(now), func() { c.setState(coord.Suspended) })
	case !frozen && c.noAnswers:
		c.noAnswers = false
		c.lost.stop()
		c.suspend.stop()
		c.base, c.answered, c.arrived = now, now, now
		c.setState(coord.Connected)
	}
	if frozen && (s.down || r.state == cut) {
		c.suspend.stop()
		c.setState(coord.Suspended)
	}
	if c.arriving {
		c.lease.expiry.stop()
	} else {
		s.startExpiry(c.lease, c.arrived)
	}
}

// outageBegins returns when a renewal without an answer becomes an outage; soon if the session is
// suspended.
func (c *session) outageBegins(soon time.Time) time.Time {
	if c.state == coord.Suspended {
		return soon
	}
	begins := c.answered.Add(2*c.interval + liveness.Grace)
	if patience := c.answered.Add(liveness.Patience(c.timeout)); patience.Before(begins) {
		begins = patience
	}
	return begins
}

// expectRefusal loses the session at the next renewal, because the store has dropped it.
func (c *session) expectRefusal() {
	next := c.lastRenewalBefore(time.Now()).Add(c.interval + c.r.delay)
	c.refusal = c.r.store.arm(&c.r.alarms, time.Until(next), func() { c.r.lose(c) })
}

// lose ends a session, and begins the next as soon as the store can be reached.
func (r *Registry) lose(c *session) {
	cause := coord.ErrSessionLost
	if r.restored && r.reachable() {
		cause = lifetime.ErrRestored
	}
	r.loseBy(c, cause)
}

func (r *Registry) loseBy(c *session, cause error) {
	r.noteRenewals()
	c.end(cause)
	r.store.startExpiry(c.lease, c.arrived)
	r.session = nil
	r.config.Logger.Warn("session lost", c.fields()...)
	if r.reachable() {
		r.open()
	}
}

// end ends the session for its registry, not at the store.
func (c *session) end(cause error) {
	c.suspend.stop()
	c.lost.stop()
	c.refusal.stop()
	c.setState(coord.Lost)
	c.cancel(cause)
}

func (c *session) setState(state coord.SessionState) {
	if c.state == state {
		return
	}
	switch state {
	case coord.Suspended:
		c.r.config.Logger.Warn("session suspended", c.fields()...)
	case coord.Connected:
		c.r.config.Logger.Info("session connected again", c.fields()...)
	}
	c.state = state
	c.changed.Fire()
}

func (c *session) deadline() time.Time { return c.renewed().Add(liveness.Patience(c.timeout)) }

// ID implements [coord.Session].
func (c *session) ID() coord.SessionID { return c.lease.id }

// Context implements [coord.Session].
func (c *session) Context() context.Context { return c.ctx }

// Deadline implements [coord.Session].
func (c *session) Deadline() time.Time {
	c.r.store.mu.Lock()
	defer c.r.store.mu.Unlock()
	return c.deadline()
}

// State implements [coord.Session].
func (c *session) State() (coord.SessionState, <-chan struct{}) {
	c.r.store.mu.Lock()
	defer c.r.store.mu.Unlock()
	return c.state, c.changed.Next()
}
