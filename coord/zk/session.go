package zk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// session implements [coord.Session]. Its keeper renews it with a request of its own,
// which the leader of the ensemble has to answer, and ends it by its own clock: the
// client library does not tell when its pings were answered, and hears that a session
// has expired only when it is connected again.
type session struct {
	cfg    *Config
	conn   *conn
	log    *zap.Logger
	ctx    context.Context
	cancel context.CancelCauseFunc
	moved  chan struct{} // has one element when the deadline has moved
	kept   chan struct{} // closed when the keeper has ended

	mu       sync.Mutex // guards all below
	open     bool       // it has been renewed after the handshake
	id       coord.SessionID
	state    coord.SessionState
	changed  chan struct{} // closed when the state changes
	timeout  time.Duration // granted
	last     time.Time     // when the last successful renewal was sent
	deadline time.Time
}

// openSession opens a session at the store.
//
// The handshake does not count as a sign of life: its answer may come late, when a
// server had stood still, say, and nothing would be left of the session's time. What
// counts is the first request that was sent on a link that was there.
func openSession(ctx context.Context, cfg *Config, h *history) (*session, error) {
	s := &session{
		cfg:     cfg,
		log:     cfg.Logger,
		moved:   make(chan struct{}, 1),
		kept:    make(chan struct{}),
		changed: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	c, sent, err := openConn(ctx, cfg, h, s, false)
	if err != nil {
		s.end(err)
		return nil, err
	}
	s.conn = c
	s.mu.Lock()
	s.open = true
	if s.isAliveLocked() {
		s.renewLocked(sent)
	}
	s.log = s.log.With(zap.String("namespace", cfg.Namespace), zap.String("session", fmt.Sprintf("%#x", int64(s.id))))
	granted := s.timeout
	s.mu.Unlock()
	s.log.Info("session opened", zap.Duration("asked", cfg.SessionTimeout), zap.Duration("granted", granted))
	go s.keep()
	return s, nil
}

// close ends the session: first for us, then at the store.
func (s *session) close(ctx context.Context, cause error) error {
	s.end(cause)
	<-s.kept
	return s.conn.close(ctx)
}

// spent is closed when the store may drop the session by itself, or has done so.
func (s *session) spent() <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := time.Until(s.deadline.Add(margin(s.timeout)))
	if s.conn.ctx.Err() != nil {
		left = 0
	}
	return time.After(left)
}

// margin is how long before the store can drop the session it ends for us.
func margin(timeout time.Duration) time.Duration { return max(200*time.Millisecond, timeout/10) }

// connected notes that a server has opened the session, or taken it up again, which
// renews it.
func (s *session) connected(h handshake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isAliveLocked() {
		return
	}
	s.id = coord.SessionID(h.session)
	if h.timeout != s.timeout { // which one server may grant and another not
		s.timeout, s.deadline = h.timeout, time.Time{}
	}
	if s.open {
		s.renewLocked(h.sent)
	}
}

// renewed notes that the store has answered what was sent at a time.
func (s *session) renewed(sent time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isAliveLocked() {
		s.renewLocked(sent)
	}
}

// isAliveLocked ends a session that was not renewed in time, if the keeper has not come
// to it yet because the process stood still, say.
func (s *session) isAliveLocked() bool {
	if !s.deadline.IsZero() && !time.Now().Before(s.deadline) {
		s.endLocked(coord.ErrSessionLost)
	}
	return s.state != coord.Lost
}

func (s *session) renewLocked(sent time.Time) {
	if sent.After(s.last) {
		s.last = sent
	}
	if deadline := sent.Add(s.timeout - margin(s.timeout)); deadline.After(s.deadline) {
		s.deadline = deadline
		select {
		case s.moved <- struct{}{}:
		default:
		}
	}
	s.becomeLocked(coord.Connected)
}

// suspend notes that a renewal failed.
func (s *session) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == coord.Connected {
		s.log.Info("session suspended", zap.Time("deadline", s.deadline))
		s.becomeLocked(coord.Suspended)
	}
}

// end ends the session for good.
func (s *session) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(cause)
}

func (s *session) endLocked(cause error) {
	if s.state == coord.Lost {
		return
	}
	if errors.Is(cause, coord.ErrSessionLost) {
		s.log.Warn("session lost", zap.Error(cause))
	}
	s.cancel(cause)
	s.becomeLocked(coord.Lost)
}

func (s *session) becomeLocked(state coord.SessionState) {
	if s.state != state {
		s.state = state
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// keep renews the session, and ends it when its deadline passes.
func (s *session) keep() {
	defer close(s.kept)
	over := time.NewTimer(time.Until(s.Deadline()))
	defer over.Stop()
	next := time.NewTimer(s.interval())
	defer next.Stop()
	late := time.NewTimer(0)
	defer late.Stop()
	late.Stop()
	var sent time.Time      // when the renewal that is on its way was begun
	var answer <-chan error // to it; nil if there is none
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.moved:
			over.Reset(time.Until(s.Deadline()))
		case <-over.C:
			if left := time.Until(s.Deadline()); left > 0 {
				over.Reset(left)
				continue
			}
			s.end(coord.ErrSessionLost)
		case <-next.C:
			next.Reset(s.interval())
			if answer == nil {
				sent = time.Now()
				answer = s.renew(sent)
				late.Reset(s.interval())
			}
		case err := <-answer:
			answer = nil
			late.Stop()
			if err != nil && !isLost(err) { // of lost links the conn tells
				s.unanswered(sent, err)
			}
		case <-late.C:
			s.unanswered(sent, errTimeout)
		}
	}
}

// interval is the time between renewals, and how long the answer to one may take.
func (s *session) interval() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout / 3
}

// renew asks for a sign of life of the leader, which only answers while it keeps the
// session. A mere read would also be answered by a server that has lost touch with it.
func (s *session) renew(sent time.Time) <-chan error {
	answer := make(chan error, 1)
	err := s.conn.run(func(client *zookeeper.Conn) {
		_, err := client.Sync("/" + s.cfg.Namespace)
		if err == nil {
			s.renewed(sent)
		} else if errors.Is(err, zookeeper.ErrSessionExpired) {
			s.conn.expire()
		}
		answer <- err
	})
	if err != nil {
		answer <- err
	}
	return answer
}

// unanswered gives up the link of a renewal that failed or takes too long, while there
// is time for another link.
func (s *session) unanswered(sent time.Time, err error) {
	s.mu.Lock()
	since := s.last.After(sent)
	s.mu.Unlock()
	if since {
		return // a new link has renewed the session meanwhile
	}
	s.log.Debug("session not renewed", zap.Error(err))
	s.suspend()
	s.conn.breakLink(sent)
}

// What else the conn tells; see owner.

func (s *session) disconnected()         { s.suspend() }
func (s *session) expired()              { s.end(coord.ErrSessionLost) }
func (s *session) fired(zookeeper.Event) {}

// ID implements [coord.Session].
func (s *session) ID() coord.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Context implements [coord.Session].
func (s *session) Context() context.Context { return s.ctx }

// Deadline implements [coord.Session].
func (s *session) Deadline() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline
}

// State implements [coord.Session].
func (s *session) State() (coord.SessionState, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed
}
