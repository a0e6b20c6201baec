package etcd

import (
	"context"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// session is the life of one lease. It ends by its own timer, at its deadline, and
// nothing that comes later brings it back.
type session struct {
	lease  int64
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	state    coord.SessionState
	changed  chan struct{} // closed when state changes
	granted  time.Duration
	sent     time.Time // of the last renewal that succeeded
	deadline time.Time
	timer    *time.Timer // runs check at the deadline
}

var _ coord.Session = (*session)(nil)

// newSession begins a session with a lease that was asked for at sent. It ends at the
// latest with ctx.
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

// deadline is when to stop trusting a lease that was renewed by a request sent at sent:
// a margin before the store can drop it, for two clocks that run at different rates.
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

// alive also looks at the clock, because after a pause of the process the timer may not
// have had its turn yet.
func (s *session) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkLocked()
	return s.ctx.Err() == nil
}

// check runs at what was the deadline when the timer was set.
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

// renewed moves the deadline, unless the session has ended. It returns the state before.
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
	s.cancel(cause) // before anybody can see another state, or another session
	s.setLocked(coord.Lost)
}

func (s *session) setLocked(state coord.SessionState) {
	if s.state != state {
		s.state = state
		close(s.changed)
		s.changed = make(chan struct{})
	}
}
