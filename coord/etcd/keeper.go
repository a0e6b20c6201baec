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
)

// sessions is the session that the registry has, or waits for.
type sessions struct {
	mu      sync.Mutex
	current *session      // nil between two
	changed chan struct{} // closed when current changes
}

// currentSession returns the session if there is one that can be trusted.
func (r *Registry) currentSession() *session {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	if s := r.sessions.current; s != nil && s.alive() {
		return s
	}
	return nil
}

func (r *Registry) awaitSession(ctx context.Context) (*session, error) {
	for {
		r.sessions.mu.Lock()
		s, changed := r.sessions.current, r.sessions.changed
		r.sessions.mu.Unlock()
		if s != nil && s.alive() {
			return s, nil
		}
		if r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
	}
}

func (r *Registry) setSession(s *session) {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	r.sessions.current = s
	close(r.sessions.changed)
	r.sessions.changed = make(chan struct{})
}

// keepSessions keeps a session alive, and opens another when it is lost, until Close.
func (r *Registry) keepSessions(s *session) {
	for retry := newRetry(); ; {
		began := time.Now()
		r.keepSession(s)
		if r.ctx.Err() != nil {
			s.end(context.Cause(r.ctx))
			return
		}
		r.log.Warn("session lost", zap.Int64("session", s.lease), zap.Error(context.Cause(s.ctx)))
		lost := s
		r.start(func() { r.giveBack(lost) })
		if time.Since(began) > lost.timeout() {
			retry.reset()
		} else if !retry.wait(r.ctx) { // sessions that do not last are not opened one after the other
			return
		}
		if s = r.reopenSession(retry); s == nil {
			return
		}
	}
}

// reopenSession tries until there is a session. It returns nil after Close.
func (r *Registry) reopenSession(retry *retry) *session {
	for {
		s, err := r.openSession(r.ctx)
		if err == nil {
			return s
		}
		if r.ctx.Err() != nil {
			return nil
		}
		r.log.Debug("no new session yet", zap.Error(err))
		if !retry.wait(r.ctx) {
			return nil
		}
	}
}

// openSession gets a lease, attaches the session's key to it, and makes it the current
// session. The lease's id is chosen here, not by the server, so that one whose grant was
// not answered can be given back.
func (r *Registry) openSession(ctx context.Context) (*session, error) {
	// What comes before the lease is no time of its life: to connect, and to wait until
	// the store has a leader.
	if _, err := r.head(ctx, "open a session"); err != nil {
		return nil, err
	}
	id := 1 + rand.Int64N(1<<63-1)
	var grant *pb.LeaseGrantResponse
	var sent time.Time
	doubtful := false
	err := r.request(ctx, "open a session", func(ctx context.Context) (err error) {
		sent = time.Now()
		grant, err = r.lease.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: id, TTL: int64(r.config.SessionTimeout / time.Second)}, grpc.WaitForReady(true))
		doubtful = err != nil && maybeDone(err)
		return err
	})
	if doubtful {
		r.start(func() { r.revokeQuietly(id, r.config.SessionTimeout) })
	}
	if err != nil {
		return nil, err
	}
	granted := time.Duration(grant.TTL) * time.Second
	err = r.request(ctx, "open a session", func(ctx context.Context) error {
		_, err := r.client.Put(ctx, r.keys.session(id), "", clientv3.WithLease(clientv3.LeaseID(id)))
		return err
	})
	if err != nil {
		r.start(func() { r.revokeQuietly(id, granted) })
		return nil, err
	}
	// Whoever gets the session takes what is read in it for the truth.
	if err := r.verify(ctx); err != nil {
		r.start(func() { r.revokeQuietly(id, granted) })
		return nil, err
	}
	s := newSession(r.ctx, id, sent, granted)
	r.setSession(s)
	r.log.Info("session opened", zap.Int64("session", id), zap.Duration("timeout", granted))
	return s, nil
}

// keepSession renews a session until it ends, and watches its key meanwhile: a lease can
// be renewed though its keys are gone.
func (r *Registry) keepSession(s *session) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		if r.awaitRemoval(s.ctx, r.keys.session(s.lease), 0, false) == nil {
			r.lose(s.ctx, s)
		}
	})
	var stream renewals
	defer stream.close()
	retry := newRetry()
	next := time.NewTimer(0) // to open it was slow work, perhaps
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-s.ctx.Done():
			return
		}
		sent := time.Now()
		granted, revision, err := r.renew(s, &stream, sent)
		switch {
		case err == nil:
			if s.renewed(sent, granted) == coord.Suspended {
				r.log.Info("session connected again", zap.Int64("session", s.lease))
			}
			retry.reset()
			next.Reset(time.Until(sent.Add(interval(granted))))
			r.lookAfterWatches(revision)
		case errors.Is(err, coord.ErrSessionLost):
			r.lose(s.ctx, s)
			return
		default:
			if s.suspend() == coord.Connected && r.ctx.Err() == nil {
				r.log.Warn("session suspended", zap.Int64("session", s.lease), zap.Error(err))
			}
			if !retry.wait(s.ctx) {
				return
			}
			next.Reset(0)
		}
	}
}

// interval is how often a session is kept alive.
func interval(granted time.Duration) time.Duration { return granted / 3 }

// renewals is a keep-alive stream with one request on it at a time. It stays open as long
// as it works: each new one costs a server with passwords the check of one, which is
// made to be slow. (The client's KeepAliveOnce opens one for each renewal, and repeats
// without a pause what fails at once.)
type renewals struct {
	pb.Lease_LeaseKeepAliveClient
	cancel context.CancelCauseFunc // nil without a stream
}

func (s *renewals) close() {
	if s.cancel != nil {
		s.cancel(nil)
	}
	*s = renewals{}
}

// renew asks once, for at most a third of the time-out, and once more if the stream only
// needs to log in again.
func (r *Registry) renew(s *session, stream *renewals, sent time.Time) (granted time.Duration, revision int64, err error) {
	again := stream.cancel != nil
	answer, err := r.exchange(s, stream, sent)
	if again && refusedToken(err) {
		answer, err = r.exchange(s, stream, sent)
	}
	if err != nil {
		return 0, 0, convertError(s.ctx, err, "renew the session")
	}
	return time.Duration(answer.TTL) * time.Second, answer.Header.GetRevision(), nil
}

// exchange sends a request and receives its answer. After any error the stream is closed,
// so that a late answer is never taken for that to another request.
func (r *Registry) exchange(s *session, stream *renewals, sent time.Time) (*pb.LeaseKeepAliveResponse, error) {
	if stream.cancel == nil {
		if err := r.openRenewals(s, stream, sent); err != nil {
			return nil, err
		}
	}
	before := r.sighting.now()
	ctx, cancel := stream.Context(), stream.cancel // of this stream: it may be closed before the timer is
	timer := time.AfterFunc(patience(s, sent), func() { cancel(errNoRenewal) })
	var answer *pb.LeaseKeepAliveResponse
	err := stream.Send(&pb.LeaseKeepAliveRequest{ID: s.lease})
	if err == nil || errors.Is(err, io.EOF) { // then the reason is in what is received
		answer, err = stream.Recv()
	}
	if err == nil {
		r.sighting.note(answer.Header, before)
	}
	late := !timer.Stop()
	switch {
	case late:
		if p, ok := peer.FromContext(ctx); ok {
			r.connections.drop(p.Addr.String(), sent) // it may have broken without a word
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

func (r *Registry) openRenewals(s *session, stream *renewals, sent time.Time) (err error) {
	ctx, cancel := context.WithCancelCause(clientv3.WithRequireLeader(s.ctx))
	timer := time.AfterFunc(patience(s, sent), func() { cancel(errNoRenewal) })
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

// patience is how long to wait for the renewal that began at sent.
func patience(s *session, sent time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(interval(s.granted)-time.Since(sent), time.Until(s.deadline))
}

var errNoRenewal = errors.New("no answer in time")

// giveBack gives the lease of a lost session back once the store would have dropped it:
// until then somebody who honours the session's context may still be returning. The store
// mostly has dropped it then; one that had no leader meanwhile gives every lease its whole
// time again, and others wait for its nodes to go.
func (r *Registry) giveBack(s *session) {
	if !sleep(r.ctx, time.Until(s.expiry())) {
		return
	}
	for retry := newRetry(); ; {
		err := r.request(r.ctx, "give back a lost session", func(ctx context.Context) error {
			_, err := r.client.Revoke(ctx, clientv3.LeaseID(s.lease))
			return err
		})
		if err == nil || errors.Is(err, coord.ErrSessionLost) {
			return
		}
		if errors.Is(err, coord.ErrDenied) {
			r.log.Debug("a lease is left to expire", zap.Int64("lease", s.lease), zap.Error(err))
			return
		}
		if !retry.wait(r.ctx) {
			return
		}
	}
}

// endSession gives the lease back, so that the ephemeral nodes go at once.
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

// revokeQuietly gives back a lease that nobody is to use, unless that takes longer than
// it would live anyway.
func (r *Registry) revokeQuietly(lease int64, life time.Duration) {
	ctx, cancel := context.WithTimeout(r.ctx, life)
	defer cancel()
	if _, err := r.client.Revoke(ctx, clientv3.LeaseID(lease)); err != nil {
		r.log.Debug("a lease is left to expire", zap.Int64("lease", lease), zap.Error(err))
	}
}
