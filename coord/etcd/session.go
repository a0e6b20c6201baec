package etcd

import (
	"context"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// session is a session on one lease. A timer ends it at its deadline, and no later renewal
// brings it back.
type session struct {
	lease     int64
	ctx       context.Context
	cancel    context.CancelCauseFunc
	readsOnly bool // its user may not write its key, so it has none

	mu       sync.Mutex
	state    coord.SessionState
	changed  chan struct{} // closed when state changes
	granted  time.Duration // the lease's time, as the store granted it last
	sent     time.Time     // when the last renewal was sent that succeeded
	deadline time.Time
	timer    *time.Timer // runs check at the deadline
}

var _ coord.Session = (*session)(nil)

// newSession begins a session on a lease that was requested at sent. Its context ends with
// ctx at the latest.
func newSession(ctx context.Context, lease int64, sent time.Time, granted time.Duration) *session {
	s := &session{
		lease:    lease,
		state:    coord.Connected,
		changed:  make(chan struct{}),
		granted:  granted,
		sent:     sent,
		deadline: deadline(sent, granted),
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(time.Until(s.deadline), s.check)
	return s
}

// deadline is when to stop trusting a lease whose last renewal was sent at sent. It is a
// margin before the store can drop the lease, because the two clocks may run at slightly
// different rates.
func deadline(sent time.Time, granted time.Duration) time.Time {
	return sent.Add(granted - max(200*time.Millisecond, granted/10))
}

// ID implements [coord.Session].
func (s *session) ID() coord.SessionID { return coord.SessionID(s.lease) }

// Context implements [coord.Session].
func (s *session) Context() context.Context { return s.ctx }

// Deadline implements [coord.Session].
func (s *session) Deadline() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline
}

// timeout is how long the store keeps the session after a renewal.
func (s *session) timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// expiry is when the store drops the session if there is no other renewal.
func (s *session) expiry() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.Add(s.granted)
}

// State implements [coord.Session].
func (s *session) State() (coord.SessionState, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed
}

// alive reports whether the session has not ended. It also compares the deadline with the
// clock: after a pause of the process the timer may not have run yet.
func (s *session) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkLocked()
	return s.ctx.Err() == nil
}

// check runs at the deadline that the timer was set for. If the deadline has moved since, it
// sets the timer again.
func (s *session) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checkLocked(); s.state != coord.Lost {
		s.timer.Reset(time.Until(s.deadline))
	}
}

func (s *session) checkLocked() {
	if s.state != coord.Lost && time.Until(s.deadline) <= 0 {
		s.endLocked(coord.ErrSessionLost)
	}
}

// renewed notes a renewal that succeeded, unless the session has ended. It returns the state
// before.
func (s *session) renewed(sent time.Time, granted time.Duration) coord.SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state
	if before == coord.Lost {
		return before
	}
	s.granted, s.sent = granted, sent
	s.deadline = deadline(sent, granted)
	s.setLocked(coord.Connected)
	return before
}

// suspend notes that a renewal failed. It returns the state before.
func (s *session) suspend() coord.SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state
	if before == coord.Connected {
		s.setLocked(coord.Suspended)
	}
	return before
}

func (s *session) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != coord.Lost {
		s.endLocked(cause)
	}
}

func (s *session) endLocked(cause error) {
	s.timer.Stop()
	s.cancel(cause) // first: whoever sees the new state, or the next session, finds this context ended
	s.setLocked(coord.Lost)
}

func (s *session) setLocked(state coord.SessionState) {
	if s.state != state {
		s.state = state
		close(s.changed)
		s.changed = make(chan struct{})
	}
}
