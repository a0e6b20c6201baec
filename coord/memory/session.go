package memory

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// session implements [coord.Session]. While its link is sound it has no timer: it counts
// as renewed at every interval since base. While no answers to renewals come it is
// frozen: then timers suspend it, lose it, and expire its lease.
type session struct {
	r        *Registry
	lease    *lease
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timeout  time.Duration
	interval time.Duration // between renewals
	margin   time.Duration // how long before its lease may expire it ends

	// All below is guarded by store.mu.
	base     time.Time // when renewals began
	answered time.Time // when the last renewal was sent that was answered, as of noteRenewals
	arrived  time.Time // when the last renewal was sent that the store got, as of noteRenewals
	frozen   bool      // no answers to renewals come
	arriving bool      // renewals reach the store
	state    coord.SessionState
	changed  chan struct{} // nil if nobody asked since the last change
	suspend  *alarm
	lost     *alarm
	refusal  *alarm // the renewal that will learn that the store dropped the session
}

// Session implements [coord.Registry].
func (r *Registry) Session(ctx context.Context) (coord.Session, error) {
	session, err := r.current(ctx)
	if err != nil {
		return nil, fmt.Errorf("memory: session: %w", err)
	}
	return session, nil
}

// current returns the session, and waits while there is none.
func (r *Registry) current(ctx context.Context) (*session, error) {
	for {
		r.store.mu.Lock()
		session, opened, closed := r.session, r.opened, r.closed
		r.store.mu.Unlock()
		if closed {
			return nil, coord.ErrClosed
		}
		if err := contextError(ctx); err != nil {
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

// begin begins a new session. The store can be reached.
func (r *Registry) begin() {
	ctx, cancel := context.WithCancelCause(context.Background())
	timeout := r.config.SessionTimeout
	now := time.Now()
	c := &session{
		r:        r,
		lease:    r.store.grant(timeout),
		ctx:      ctx,
		cancel:   cancel,
		timeout:  timeout,
		interval: timeout / 3,
		margin:   max(200*time.Millisecond, timeout/10),
		base:     now,
		answered: now,
		arrived:  now,
		arriving: true,
		state:    coord.Connected,
	}
	r.session, r.restored = c, false
	close(r.opened)
	c.relink() // the link may be too slow for renewals
	r.config.Logger.Info("session opened", c.fields()...)
}

// open begins the session after a lost one, with the fault that is set for that.
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

// lastDue returns when the last renewal was due that was due by a time.
func (c *session) lastDue(at time.Time) time.Time {
	elapsed := max(at.Sub(c.base), 0)
	return c.base.Add(elapsed - elapsed%c.interval)
}

// renewed returns when the last renewal was sent that was answered.
func (c *session) renewed() time.Time {
	if c.frozen || c.state == coord.Lost {
		return c.answered
	}
	if t := c.lastDue(time.Now().Add(-c.r.delay)); t.After(c.answered) {
		return t
	}
	return c.answered
}

// noteRenewals writes down the last renewals until now, before something changes that
// they are computed from.
func (r *Registry) noteRenewals() {
	if c := r.session; c != nil {
		c.answered = c.renewed()
		if t := c.lastDue(time.Now()); c.arriving && t.After(c.arrived) {
			c.arrived = t
		}
	}
}

// relink brings the session in line with its link.
func (c *session) relink() {
	s, r := c.r.store, c.r
	if r.reachable() && (r.restored || s.leases[c.lease.id] == nil && c.frozen) {
		r.lose(c) // the first renewal over the healed link learns that
		return
	}
	frozen := !r.reachable() || r.delay >= c.interval
	c.arriving = !s.down && r.state != cut && r.state != blackHoled
	now := time.Now()
	switch {
	case frozen && !c.frozen:
		c.frozen = true
		c.refusal.stop()
		c.lost = s.arm(&r.alarms, c.deadline().Sub(now), func() { r.lose(c) })
		unanswered := c.lastDue(now).Add(2 * c.interval) // when the answer to the next renewal is overdue
		c.suspend = s.arm(&r.alarms, unanswered.Sub(now), func() { c.setState(coord.Suspended) })
	case !frozen && c.frozen:
		c.frozen = false
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

// outageBegins is when the missing answer to a renewal is an outage, if the session is not suspended
// already: then soon is.
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

// expectRefusal arms the next renewal, which learns that the store has dropped the session.
func (c *session) expectRefusal() {
	next := c.lastDue(time.Now()).Add(c.interval + c.r.delay)
	c.refusal = c.r.store.arm(&c.r.alarms, time.Until(next), func() { c.r.lose(c) })
}

// lose ends a session for good, and begins the next as soon as that is possible.
func (r *Registry) lose(c *session) {
	r.noteRenewals()
	cause := coord.ErrSessionLost
	if r.restored && r.reachable() {
		cause = errRestored
	}
	c.end(cause)
	r.store.startExpiry(c.lease, c.arrived)
	r.session = nil
	r.opened = make(chan struct{})
	r.config.Logger.Warn("session lost", c.fields()...)
	if r.reachable() {
		r.open()
	}
}

// end ends the session for its registry. The lease stays as it is.
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
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

func (c *session) deadline() time.Time { return c.renewed().Add(c.timeout - c.margin) }

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
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.state, c.changed
}
