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
	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// session implements [coord.Session]. Its keeper renews it with a request that the leader of
// the ensemble has to answer, and ends it by the local clock. The client library alone is
// not enough: it does not tell when its pings were answered, and learns that a session has
// expired only when it is connected again.
type session struct {
	cfg           *Config
	conn          *conn
	log           *zap.Logger
	liveness      *liveness.Monitor
	ctx           context.Context
	cancel        context.CancelCauseFunc
	deadlineMoved chan struct{} // has an element when the deadline has moved
	keeperEnded   chan struct{}

	mu          sync.Mutex // guards all below
	opened      bool       // it was renewed after the first handshake
	id          coord.SessionID
	state       coord.SessionState
	changed     chan struct{} // closed when the state changes
	timeout     time.Duration // as the store granted it
	lastRenewal time.Time     // when the last renewal was sent that succeeded
	deadline    time.Time
}

// openSession opens a session at the store.
//
// The first handshake does not count as a renewal: its answer may come late, for example
// because the server had stood still, and then little would be left of the session's time.
// The first request that is sent on a complete link counts.
func openSession(ctx context.Context, cfg *Config, h *history, l *liveness.Monitor) (*session, error) {
	s := &session{
		cfg:           cfg,
		log:           cfg.Logger,
		liveness:      l,
		deadlineMoved: make(chan struct{}, 1),
		keeperEnded:   make(chan struct{}),
		changed:       make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	c, sent, err := openConn(ctx, cfg, h, s, false)
	if err != nil {
		s.end(err)
		return nil, err
	}
	s.conn = c
	s.mu.Lock()
	s.opened = true
	if s.isAliveLocked() {
		s.renewLocked(sent)
	}
	s.log = s.log.With(zap.String("namespace", cfg.Namespace), zap.String("session", fmt.Sprintf("%#x", int64(s.id))))
	granted := s.timeout
	s.mu.Unlock()
	l.SetTimeout(granted)
	l.Answered()
	s.log.Info("session opened", zap.Duration("asked", cfg.SessionTimeout), zap.Duration("granted", granted))
	go s.keep()
	return s, nil
}

// close ends the session: first here, then at the store.
func (s *session) close(ctx context.Context, cause error) error {
	s.end(cause)
	<-s.keeperEnded
	return s.conn.close(ctx)
}

// expiry returns a channel that gets an element when the store may drop the session by
// itself; at once if it has.
func (s *session) expiry() <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := time.Until(s.deadline.Add(margin(s.timeout)))
	if s.conn.ctx.Err() != nil {
		left = 0
	}
	return time.After(left)
}

// margin is how long before the store may drop the session it ends here.
func margin(timeout time.Duration) time.Duration { return max(200*time.Millisecond, timeout/10) }

// connected notes that a server has opened the session, or has taken it up again, which
// renews it.
func (s *session) connected(h handshake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isAliveLocked() {
		return
	}
	s.id = coord.SessionID(h.session)
	if h.timeout != s.timeout { // another server may grant another time-out
		s.timeout, s.deadline = h.timeout, time.Time{}
		s.liveness.SetTimeout(h.timeout)
	}
	if s.opened {
		s.liveness.Answered()
		s.renewLocked(h.sent)
	}
}

// renewed notes that the store has answered a request that was sent at sent.
func (s *session) renewed(sent time.Time) {
	s.liveness.Answered()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isAliveLocked() {
		s.renewLocked(sent)
	}
}

// isAliveLocked reports whether the session has not ended. If its deadline has passed it ends
// the session: after a pause of the process the keeper may not have done that yet.
func (s *session) isAliveLocked() bool {
	if !s.deadline.IsZero() && !time.Now().Before(s.deadline) {
		s.endLocked(coord.ErrSessionLost)
	}
	return s.state != coord.Lost
}

func (s *session) renewLocked(sent time.Time) {
	if sent.After(s.lastRenewal) {
		s.lastRenewal = sent
	}
	if deadline := sent.Add(s.timeout - margin(s.timeout)); deadline.After(s.deadline) {
		s.deadline = deadline
		select {
		case s.deadlineMoved <- struct{}{}:
		default:
		}
	}
	if s.state == coord.Suspended {
		s.log.Info("session connected again")
	}
	s.becomeLocked(coord.Connected)
}

// suspend notes that a renewal failed.
func (s *session) suspend() {
	s.liveness.Suspect()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == coord.Connected {
		s.log.Warn("session suspended", zap.Time("deadline", s.deadline))
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
	defer close(s.keeperEnded)
	over := time.NewTimer(time.Until(s.Deadline()))
	defer over.Stop()
	next := time.NewTimer(s.interval())
	defer next.Stop()
	late := time.NewTimer(0)
	defer late.Stop()
	late.Stop()
	var sent time.Time      // when the renewal was sent that has no answer yet
	var answer <-chan error // its answer; nil if there is no such renewal
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.deadlineMoved:
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
			if err != nil && !isLost(err) { // if the link broke, conn calls disconnected
				s.giveUpLink(sent, err)
			}
		case <-late.C:
			s.giveUpLink(sent, errTimeout)
		}
	}
}

// interval is the time between two renewals, and how long the answer to one may take.
func (s *session) interval() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout / 3
}

// renew sends a request that the leader has to answer, and it answers only while it keeps
// the session. A read is not enough: a server that has lost its leader answers it too.
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

// giveUpLink breaks the link of a renewal that failed or takes too long, while there is time
// for another link.
func (s *session) giveUpLink(sent time.Time, err error) {
	s.mu.Lock()
	renewedSince := s.lastRenewal.After(sent)
	s.mu.Unlock()
	if renewedSince {
		return // a new link has renewed the session meanwhile
	}
	s.log.Debug("cannot renew the session on this connection", zap.Error(err))
	s.suspend()
	s.conn.breakLink(sent)
}

// The other methods of owner.

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
