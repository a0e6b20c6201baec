package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// identity tells one store from another by the headers of its answers. The revisions of a store only
// grow. So if an answer has a lower revision than an earlier one, the store may have been restored
// to an earlier state, or be another one. Then verify finds out whether it was.
type identity struct {
	mu          sync.Mutex
	known       storeState
	incarnation int64 // how often the store was found to be restored
	// verifyRequests counts the reasons to verify the store, verified those that verify has handled.
	verifyRequests, verified int64
	reconnected              bool          // there was a new connection since the last verify, so the store may have been restored unseen
	verifyWanted             chan struct{} // wakes runVerify
	verifying                sync.Mutex    // held by verify
	resyncing                sync.Mutex    // held by resyncSlowly
}

// storeState is the newest state of the store that is known.
type storeState struct {
	cluster  uint64
	term     uint64
	revision int64
}

// moment is what was known at some time, such as before a request was sent.
type moment struct {
	storeState
	incarnation int64
}

func (s *identity) now() moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return moment{s.known, s.incarnation}
}

// noteHeader updates what is known by the header of an answer, or requests a verify if the header
// does not fit. before is what was known before the request was sent.
func (s *identity) noteHeader(header *pb.ResponseHeader, before moment) {
	if header.GetClusterId() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before.incarnation != s.incarnation {
		return // the answer may come from the store as it was before it was restored
	}
	if s.known.cluster == 0 {
		s.known.cluster, s.known.term = header.ClusterId, header.RaftTerm
	}
	if compare(before.storeState, header) != storeUnchanged || header.RaftTerm != s.known.term {
		s.requestVerifyLocked()
	}
	if header.ClusterId == s.known.cluster {
		s.known.revision = max(s.known.revision, header.Revision)
	}
}

// noteRevision records a revision that a watch has delivered.
func (s *identity) noteRevision(revision, incarnation int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if incarnation == s.incarnation {
		s.known.revision = max(s.known.revision, revision)
	}
}

func (s *identity) needsVerify() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verifyRequests > s.verified
}

// setVerified records that verify has handled the first requests, with all consequences.
func (s *identity) setVerified(requests int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified = max(s.verified, requests)
}

func (s *identity) requestVerifyLocked() {
	s.verifyRequests++
	select {
	case s.verifyWanted <- struct{}{}:
	default:
	}
}

// requestVerify requests a verify for a reason other than an answer's header.
func (s *identity) requestVerify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requestVerifyLocked()
}

// connected records a new connection: the store may have been restored before it was made.
func (s *identity) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.cluster != 0 {
		s.reconnected = true
		s.requestVerifyLocked()
	}
}

// storeChange is the difference between what was known of the store and an answer.
type storeChange int

const (
	storeUnchanged storeChange = iota + 1
	storeReelected             // it has a new leader, as also after a restart
	storeRestored              // it was put back, or is another one
)

// compare compares an answer with what was known before its request was sent. storeRestored is a
// proof only if the answer is linearizable: any other may come from a member that lags.
func compare(before storeState, header *pb.ResponseHeader) storeChange {
	switch {
	case before.cluster == 0:
		return storeUnchanged
	case header.ClusterId != before.cluster, header.Revision < before.revision:
		return storeRestored
	case header.RaftTerm != before.term:
		return storeReelected
	}
	return storeUnchanged
}

// observe is a gRPC interceptor that looks at the answers to all requests but those on streams.
func (r *Registry) observe(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if read, ok := request.(*pb.RangeRequest); ok && read.Serializable { // a member answers such a read from its own copy
		return invoke(ctx, method, request, reply, conn, options...)
	}
	before := r.identity.now()
	err := invoke(ctx, method, request, reply, conn, options...)
	if answer, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok && err == nil {
		r.identity.noteHeader(answer.GetHeader(), before)
	}
	if isAnswer(err) && !strings.HasPrefix(method, "/etcdserverpb.Maintenance/") { // which also a member without a leader answers
		r.liveness.Answered()
	}
	return err
}

// runVerify calls verify whenever it is requested, until Close.
func (r *Registry) runVerify() {
	for backoff := newBackoff(); ; {
		select {
		case <-r.identity.verifyWanted:
		case <-r.ctx.Done():
			return
		}
		for {
			err := r.verify(r.ctx)
			if err == nil {
				backoff.Reset()
				break
			}
			r.log.Debug("cannot check yet whether the store was put back", zap.Error(err))
			if !backoff.Wait(r.ctx) {
				return
			}
		}
	}
}

// verify finds out whether the store was restored, if that was requested, and returns when all
// consequences are drawn.
func (r *Registry) verify(ctx context.Context) error {
	s := &r.identity
	if !s.needsVerify() {
		return nil
	}
	s.verifying.Lock()
	defer s.verifying.Unlock()
	if !s.needsVerify() {
		return nil
	}
	var before moment
	var header *pb.ResponseHeader
	verdict := storeRestored
	// One read is no proof: some servers have answered it from the past after a pause.
	for range 2 {
		before = s.now()
		read, err := r.readHeader(ctx, "check whether the store was put back")
		if err != nil {
			return err
		}
		header = read.Header
		if verdict = compare(before.storeState, header); verdict != storeRestored {
			break
		}
	}
	if verdict == storeRestored {
		r.handleRestore(before, storeState{header.ClusterId, header.RaftTerm, header.Revision})
		return nil
	}
	s.mu.Lock()
	reread := s.reconnected || verdict == storeReelected
	s.reconnected, s.known.term = false, header.RaftTerm
	requests := s.verifyRequests
	s.mu.Unlock()
	if reread {
		r.resyncAll()
	}
	s.setVerified(requests)
	return nil
}

// readHeader makes a small linearizable read, for the header of the answer.
func (r *Registry) readHeader(ctx context.Context, what string) (*clientv3.GetResponse, error) {
	return r.get(ctx, what, r.keys.prefix, clientv3.WithCountOnly())
}

// handleRestore is called when the store was found to be restored after the moment since: the
// session ends, and all watchers resync. The session's lease is revoked at its time-out, like that
// of any lost session: the restored tree may have the session's nodes, and work under them may not
// have returned yet.
func (r *Registry) handleRestore(since moment, found storeState) {
	s := &r.identity
	s.mu.Lock()
	if s.incarnation != since.incarnation {
		s.mu.Unlock()
		return // another caller has handled it
	}
	s.incarnation++
	s.reconnected, s.known = false, found
	requests := s.verifyRequests
	s.mu.Unlock()
	r.log.Warn("the store was put back to an earlier state, or replaced by another one: the session ends, and everything is read again",
		zap.Int64("from_revision", since.revision), zap.Int64("to_revision", found.revision), zap.Bool("same_cluster", found.cluster == since.cluster))
	if current := r.currentSession(); current != nil {
		current.End(lifetime.ErrRestored)
	}
	r.watchers.replaceStream(lifetime.ErrRestored) // watches of the old state must not delay the new ones
	r.watchers.each((*watcher).restored)
	s.setVerified(requests)
}

// resyncAll has all watchers resync in the background, because the store may have been restored and
// have grown beyond the known revision since. All clients of the store do that at the same time, so
// it goes slowly. A Sync resyncs its view at once.
func (r *Registry) resyncAll() {
	r.watchers.each((*watcher).markSuspect)
	if r.identity.resyncing.TryLock() {
		if !r.start(r.resyncSlowly) {
			r.identity.resyncing.Unlock()
		}
	}
}

// resyncSlowly has the suspect watchers resync one after the other, spread over some time, until none
// is suspect.
func (r *Registry) resyncSlowly() {
	defer r.identity.resyncing.Unlock()
	const spread, least = 5 * time.Second, 50 * time.Millisecond
	for {
		suspects := slices.DeleteFunc(r.watchers.all(), func(w *watcher) bool { return !w.isSuspect() })
		if len(suspects) == 0 {
			return
		}
		pause := max(least, spread/time.Duration(len(suspects)))
		for _, w := range suspects {
			if !sleep.For(r.ctx, pause/2+rand.N(pause)) {
				return
			}
			w.resyncIfSuspect()
		}
	}
}

// loseSession ends a session that the store has dropped. If the reason is that the store was restored,
// the session's cause is ErrRestored.
func (r *Registry) loseSession(ctx context.Context, s *session) {
	r.checkRestored(ctx)
	s.End(coord.ErrSessionLost)
}

// handleKeyRemoval ends a session whose key was removed. As long as the store keeps the lease that was not the
// store: then the session's cause is ErrSessionEnded.
func (r *Registry) handleKeyRemoval(s *session) {
	r.checkRestored(s.ctx)
	if r.leaseLives(s) {
		s.End(fmt.Errorf("%w: %w: the key %s was removed", coord.ErrSessionLost, coord.ErrSessionEnded, r.keys.session(s.lease)))
	}
	s.End(coord.ErrSessionLost)
}

// checkRestored finds out whether the store was restored, if it answers. If it was, the session ends.
func (r *Registry) checkRestored(ctx context.Context) {
	r.identity.requestVerify()
	if err := r.verify(ctx); err != nil {
		r.log.Debug("cannot check whether the store was put back", zap.Error(err))
	}
}

// leaseLives reports whether the store still keeps a session's lease. It waits for a second at most, because
// work under the session has to end soon.
func (r *Registry) leaseLives(s *session) bool {
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	answer, err := r.lease.LeaseTimeToLive(ctx, &pb.LeaseTimeToLiveRequest{ID: s.lease})
	return err == nil && answer.TTL > 0
}
