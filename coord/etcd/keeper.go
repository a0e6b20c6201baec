package etcd

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// keepSessions keeps a session alive, and opens the next when it is lost, until Close.
func (r *Registry) keepSessions(s *session) {
	for backoff := newBackoff(); ; {
		began := time.Now()
		r.keepSession(s)
		if r.ctx.Err() != nil {
			s.End(context.Cause(r.ctx))
			return
		}
		r.log.Warn("session lost", zap.Int64("session", s.lease), zap.Error(context.Cause(s.ctx)))
		lost := s
		r.start(func() { r.revokeLost(lost) })
		if time.Since(began) > lost.Timeout() {
			backoff.Reset()
		} else if !backoff.Wait(r.ctx) { // this one did not last, so the next must not follow at once
			return
		}
		if s = r.reopenSession(backoff); s == nil {
			return
		}
	}
}

// reopenSession tries to open a session until it succeeds. It returns nil after Close.
func (r *Registry) reopenSession(backoff *sleep.Backoff) *session {
	for {
		s, err := r.openSession(r.ctx)
		if err == nil {
			return s
		}
		if r.ctx.Err() != nil {
			return nil
		}
		r.log.Debug("cannot open a new session yet", zap.Error(err))
		r.liveness.Suspect()
		if !backoff.Wait(r.ctx) {
			return nil
		}
	}
}

// openSession gets a lease, attaches the session's key to it, and makes it the current
// session. It chooses the lease's id itself, so that it can revoke the lease if the grant
// gets no answer. The session of a user who may only read has no key.
func (r *Registry) openSession(ctx context.Context) (_ *session, err error) {
	// This read waits until there is a connection and the store has a leader. Without it
	// that time would be taken from the lease's.
	if _, err := r.readHeader(ctx, "open a session"); err != nil {
		return nil, err
	}
	id := 1 + rand.Int64N(1<<63-1)
	var grant *pb.LeaseGrantResponse
	var sent time.Time
	maybeGranted, granted := false, r.config.SessionTimeout
	defer func() {
		if err != nil && maybeGranted {
			r.start(func() { r.revokeQuietly(id, granted) })
		}
	}()
	err = r.request(ctx, "open a session", func(ctx context.Context) (err error) {
		sent = time.Now()
		grant, err = r.lease.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: id, TTL: int64(r.config.SessionTimeout / time.Second)}, grpc.WaitForReady(true))
		maybeGranted = err == nil || maybeDone(err)
		return err
	})
	if err != nil {
		return nil, err
	}
	granted = time.Duration(grant.TTL) * time.Second
	readsOnly := false
	err = r.request(ctx, "open a session", func(ctx context.Context) error {
		_, err := r.client.Put(ctx, r.keys.session(id), "", clientv3.WithLease(clientv3.LeaseID(id)))
		if errors.Is(rpctypes.Error(err), rpctypes.ErrPermissionDenied) { // the read above was allowed
			readsOnly = true
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// Callers rely on what they read in this session, so find out first whether the store
	// was put back.
	if err := r.verify(ctx); err != nil {
		return nil, err
	}
	s := newSession(r.ctx, id, readsOnly)
	s.Renew(sent, granted)
	r.liveness.SetTimeout(granted)
	s.client = r.newSessionClient(s)
	r.log.Info("session opened", zap.Int64("session", id), zap.Duration("timeout", granted), zap.Bool("readsOnly", readsOnly)) // before anybody has it
	r.setSession(s)
	return s, nil
}

// keepSession renews a session until it ends. It also watches the session's key: a lease can
// be renewed although its keys were removed.
func (r *Registry) keepSession(s *session) {
	var watching sync.WaitGroup
	defer watching.Wait()
	if !s.readsOnly {
		watching.Go(func() {
			if r.awaitRemoval(s.ctx, r.keys.session(s.lease)) == nil {
				r.handleKeyRemoval(s)
			}
		})
	}
	var stream renewals
	defer stream.close()
	backoff := newBackoff()
	next := time.NewTimer(0) // renew at once: to open it may have taken long
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-s.ctx.Done():
			return
		}
		sent := time.Now()
		granted, err := r.renew(s, &stream, sent)
		switch {
		case err == nil:
			if s.Renew(sent, granted) == coord.Suspended {
				r.log.Info("session connected again", zap.Int64("session", s.lease))
			}
			backoff.Reset()
			next.Reset(time.Until(sent.Add(s.Interval())))
			r.requestProgress()
		case errors.Is(err, coord.ErrSessionLost):
			r.loseSession(s.ctx, s)
			return
		default:
			if s.Suspend() == coord.Connected && r.ctx.Err() == nil {
				r.log.Warn("session suspended", zap.Int64("session", s.lease), zap.Error(err))
			}
			r.liveness.Suspect()
			if !backoff.Wait(s.ctx) {
				return
			}
			next.Reset(0)
		}
	}
}

// renewals is a keep-alive stream with one request on it at a time. It stays open as long
// as it works, because for each new stream a server with authentication checks a password,
// and that is slow on purpose. (The client's KeepAliveOnce opens a stream for each renewal,
// and repeats without a pause what fails at once.)
type renewals struct {
	pb.Lease_LeaseKeepAliveClient
	cancel context.CancelCauseFunc // nil while there is no stream
}

func (s *renewals) close() {
	if s.cancel != nil {
		s.cancel(nil)
	}
	*s = renewals{}
}

// renew sends one renewal, and waits for its answer for at most a third of the time-out. If
// an old stream's token has expired it tries once more on a new stream, which logs in again.
func (r *Registry) renew(s *session, stream *renewals, sent time.Time) (granted time.Duration, err error) {
	wasOpen := stream.cancel != nil
	answer, err := r.sendRenewal(s, stream, sent)
	if wasOpen && refusedToken(err) {
		answer, err = r.sendRenewal(s, stream, sent)
	}
	if err != nil {
		return 0, convertError(s.ctx, err, "renew the session")
	}
	return time.Duration(answer.TTL) * time.Second, nil
}

// sendRenewal sends one renewal and receives its answer. After any error it closes the stream, so that
// a late answer is not taken for that to a later renewal.
func (r *Registry) sendRenewal(s *session, stream *renewals, sent time.Time) (*pb.LeaseKeepAliveResponse, error) {
	if stream.cancel == nil {
		if err := r.openRenewals(s, stream, sent); err != nil {
			return nil, err
		}
	}
	before := r.identity.now()
	ctx, cancel := stream.Context(), stream.cancel // the timer may run after the stream was replaced
	timer := time.AfterFunc(renewalTimeout(s, sent), func() { cancel(errNoRenewal) })
	var answer *pb.LeaseKeepAliveResponse
	err := stream.Send(&pb.LeaseKeepAliveRequest{ID: s.lease})
	if err == nil || errors.Is(err, io.EOF) { // after EOF, Recv returns the reason
		answer, err = stream.Recv()
	}
	if err == nil {
		r.identity.noteHeader(answer.Header, before)
		r.liveness.Answered()
	}
	late := !timer.Stop()
	switch {
	case late:
		if p, ok := peer.FromContext(ctx); ok {
			r.connections.drop(p.Addr.String(), sent) // it may be broken without notice
		}
		err = errNoRenewal
	case err == nil && answer.TTL <= 0:
		err = rpctypes.ErrLeaseNotFound
	}
	if err != nil {
		stream.close()
		return nil, err
	}
	return answer, nil
}

// openRenewals opens the keep-alive stream of a session.
func (r *Registry) openRenewals(s *session, stream *renewals, sent time.Time) (err error) {
	ctx, cancel := context.WithCancelCause(clientv3.WithRequireLeader(s.ctx))
	timer := time.AfterFunc(renewalTimeout(s, sent), func() { cancel(errNoRenewal) })
	stream.Lease_LeaseKeepAliveClient, err = r.lease.LeaseKeepAlive(ctx, grpc.WaitForReady(true))
	if !timer.Stop() && err == nil {
		err = errNoRenewal
	}
	if err != nil {
		cancel(nil)
		return err
	}
	stream.cancel = cancel
	return nil
}

// renewalTimeout is how long to go on waiting for the answer to a renewal that began at sent.
func renewalTimeout(s *session, sent time.Time) time.Duration {
	return min(s.Interval()-time.Since(sent), time.Until(s.Deadline()))
}

var errNoRenewal = errors.New("no answer in time")

// revokeLost revokes the lease of a lost session once its time-out has passed. Not earlier:
// work that obeys the session's context may need that time to return. Mostly the store has
// dropped the lease by then. But after a time without a leader a store gives every lease
// its whole time again, and others would wait long for the session's nodes to go.
func (r *Registry) revokeLost(s *session) {
	if !sleep.For(r.ctx, time.Until(s.Expiry())) {
		return
	}
	for backoff := newBackoff(); ; {
		err := r.request(r.ctx, "revoke the lease of a lost session", func(ctx context.Context) error {
			_, err := r.client.Revoke(ctx, clientv3.LeaseID(s.lease))
			return err
		})
		if err == nil || errors.Is(err, coord.ErrSessionLost) {
			return
		}
		if errors.Is(err, coord.ErrDenied) {
			r.log.Debug("cannot revoke a lease; it will expire", zap.Int64("lease", s.lease), zap.Error(err))
			return
		}
		if !backoff.Wait(r.ctx) {
			return
		}
	}
}

// endSession revokes the lease, so that the ephemeral nodes go at once.
func (r *Registry) endSession(ctx context.Context) error {
	r.sessions.mu.Lock()
	s := r.sessions.current
	r.sessions.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, r.config.RequestTimeout, r.late)
	defer cancel()
	_, err := r.client.Revoke(ctx, clientv3.LeaseID(s.lease))
	if errors.Is(rpctypes.Error(err), rpctypes.ErrLeaseNotFound) {
		return nil
	}
	return convertError(ctx, err, "end the session")
}

// revokeQuietly revokes a lease that nobody uses. It stops when the lease has expired.
func (r *Registry) revokeQuietly(lease int64, life time.Duration) {
	ctx, cancel := context.WithTimeout(r.ctx, life)
	defer cancel()
	if _, err := r.client.Revoke(ctx, clientv3.LeaseID(lease)); err != nil {
		r.log.Debug("cannot revoke a lease; it will expire", zap.Int64("lease", lease), zap.Error(err))
	}
}
