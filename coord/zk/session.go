package zk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// session is a session on one conn. Its keeper renews it with a request that the leader of the
// ensemble has to answer, and it ends by the local clock. The client library does not tell when its
// pings were answered, and learns that a session has expired only when it is connected again.
type session struct {
	*lifetime.Session
	config      *Config
	conn        *conn
	liveness    *liveness.Monitor
	ctx         context.Context
	opened      atomic.Bool // openSession has renewed it
	keeperEnded chan struct{}
}

// openSession opens a session at the store.
//
// The first handshake does not count as a renewal: its answer may come late, and little would be
// left of the session's time. The first request on the new link counts.
func openSession(ctx context.Context, cfg *Config, id *identity, l *liveness.Monitor) (*session, error) {
	s := &session{Session: lifetime.New(context.Background()), config: cfg, liveness: l, keeperEnded: make(chan struct{})}
	s.ctx = s.Context()
	c, sent, err := openConn(ctx, cfg, id, s, false)
	if err != nil {
		s.End(err)
		return nil, err
	}
	s.conn = c
	s.opened.Store(true)
	granted := c.sessionTimeout()
	s.Renew(sent, granted)
	l.SetTimeout(granted)
	l.Answered()
	s.log().Info("session opened", zap.Duration("asked", cfg.SessionTimeout), zap.Duration("granted", granted))
	go s.keep()
	return s, nil
}

func (s *session) log() *zap.Logger {
	return s.config.Logger.With(zap.String("namespace", s.config.Namespace), zap.String("session", fmt.Sprintf("%#x", int64(s.ID()))))
}

// close ends the session: first here, then at the store.
func (s *session) close(ctx context.Context, cause error) error {
	s.End(cause)
	<-s.keeperEnded
	return s.conn.close(ctx)
}

// expiry returns a channel that gets an element when the session's time-out has passed at the store.
func (s *session) expiry() <-chan time.Time {
	if s.conn.ctx.Err() != nil {
		return time.After(0)
	}
	return time.After(time.Until(s.Expiry()))
}

// connected is called when a server has opened the session or taken it up again, which renews it.
func (s *session) connected(h handshake) {
	if !s.Alive() {
		return
	}
	s.SetID(coord.SessionID(h.session))
	if s.opened.Load() {
		s.liveness.SetTimeout(h.timeout) // another server may grant another time-out
		s.renewed(h.sent, h.timeout)
	}
}

// renewed records that the store has answered a request sent at sent. timeout is the time-out that it
// has granted, 0 if that is as before.
func (s *session) renewed(sent time.Time, timeout time.Duration) {
	s.liveness.Answered()
	if s.Renew(sent, timeout) == coord.Suspended {
		s.log().Info("session connected again")
	}
}

// suspend records that a renewal failed.
func (s *session) suspend() {
	s.liveness.Suspect()
	if s.Suspend() == coord.Connected {
		s.log().Warn("session suspended", zap.Time("deadline", s.Deadline()))
	}
}

// keep renews the session until it ends.
func (s *session) keep() {
	defer close(s.keeperEnded)
	next := time.NewTimer(s.Interval())
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
		case <-next.C:
			next.Reset(s.Interval())
			if answer == nil {
				sent = time.Now()
				answer = s.renew(sent)
				late.Reset(s.Interval())
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

// renew sends a sync, which the leader has to answer, and answers only while it keeps the session. A
// server that has lost its leader would still answer a read.
func (s *session) renew(sent time.Time) <-chan error {
	answer := make(chan error, 1)
	err := s.conn.run(func(client *zookeeper.Conn) {
		_, err := client.Sync("/" + s.config.Namespace)
		if err == nil {
			s.renewed(sent, 0)
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

// giveUpLink breaks the link of a renewal that failed or takes too long, so that there is time for
// another link.
func (s *session) giveUpLink(sent time.Time, err error) {
	if s.Renewed().After(sent) {
		return // a new link has renewed the session meanwhile
	}
	s.log().Debug("cannot renew the session on this connection", zap.Error(err))
	s.suspend()
	s.conn.breakLink(sent)
}

// The other methods of owner.

func (s *session) disconnected()         { s.suspend() }
func (s *session) expired()              { s.End(coord.ErrSessionLost) }
func (s *session) fired(zookeeper.Event) {}
