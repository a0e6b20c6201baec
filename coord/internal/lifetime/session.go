// Package lifetime keeps a session's state by the local clock: it is renewed, suspended and lost.
package lifetime

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// ErrRestored is the cause of the end of a session whose store was restored.
var ErrRestored = fmt.Errorf("%w: %w", coord.ErrSessionLost, coord.ErrRestored)

// Session implements [coord.Session]. A timer ends it at its deadline, and no later renewal brings
// it back.
type Session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	id       coord.SessionID
	state    coord.SessionState
	changed  broadcast.Signal // the state
	timeout  time.Duration    // as the store granted it last
	sent     time.Time        // when the last renewal was sent that succeeded
	deadline time.Time        // zero before the first renewal
	timer    *time.Timer      // runs check at the deadline
}

var _ coord.Session = (*Session)(nil)

// New returns a session that was not renewed yet. Its context ends with ctx at the latest.
func New(ctx context.Context) *Session {
	s := &Session{state: coord.Connected}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

// SetID sets the id, which the store chose.
func (s *Session) SetID(id coord.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id = id
}

// Renew records that the store has answered a renewal that was sent at a time, and has granted a
// time-out; 0 is the time-out as before. The deadline is a margin before the store can drop the
// session. Renew returns the state before.
func (s *Session) Renew(sent time.Time, timeout time.Duration) (before coord.SessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkLocked()
	before = s.state
	if before == coord.Lost {
		return before
	}
	if timeout != 0 && timeout != s.timeout {
		s.timeout, s.deadline = timeout, time.Time{}
	}
	if sent.After(s.sent) {
		s.sent = sent
	}
	if deadline := sent.Add(liveness.Patience(s.timeout)); deadline.After(s.deadline) {
		s.deadline = deadline
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Until(s.deadline), s.check)
	} else {
		s.timer.Reset(time.Until(s.deadline))
	}
	s.setLocked(coord.Connected)
	return before
}

// Suspend records that a renewal failed. It returns the state before.
func (s *Session) Suspend() (before coord.SessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.state
	if before == coord.Connected {
		s.setLocked(coord.Suspended)
	}
	return before
}

// End ends the session for a reason, unless it has ended.
func (s *Session) End(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(cause)
}

// Alive reports whether the session has not ended. It also compares the deadline with the
// clock: after a pause of the process the timer may not have run yet.
func (s *Session) Alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkLocked()
	return s.ctx.Err() == nil
}

// check runs at the deadline that the timer was set for. If the deadline has moved since, it
// sets the timer again.
func (s *Session) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checkLocked(); s.state != coord.Lost {
		s.timer.Reset(time.Until(s.deadline))
	}
}

func (s *Session) checkLocked() {
	if !s.deadline.IsZero() && time.Until(s.deadline) <= 0 {
		s.endLocked(coord.ErrSessionLost)
	}
}

func (s *Session) endLocked(cause error) {
	if s.state == coord.Lost {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.cancel(cause) // first: whoever sees the new state, or the next session, finds this context ended
	s.setLocked(coord.Lost)
}

func (s *Session) setLocked(state coord.SessionState) {
	if s.state != state {
		s.state = state
		s.changed.Fire()
	}
}

// ID implements [coord.Session].
func (s *Session) ID() coord.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Context implements [coord.Session].
func (s *Session) Context() context.Context { return s.ctx }

// Deadline implements [coord.Session].
func (s *Session) Deadline() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline
}

// State implements [coord.Session].
func (s *Session) State() (coord.SessionState, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed.Next()
}

// Timeout is how long the store keeps the session after a renewal.
func (s *Session) Timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// Interval is the time between two renewals.
func (s *Session) Interval() time.Duration { return s.Timeout() / 3 }

// Renewed is when the last renewal was sent that succeeded.
func (s *Session) Renewed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// Expiry is when the store drops the session if there is no other renewal.
func (s *Session) Expiry() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.Add(s.timeout)
}
