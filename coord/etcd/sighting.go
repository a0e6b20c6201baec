package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/coord"
)

// sighting is what answers have told about the store as a whole. In one store revisions
// only grow, so an answer that is lower than an earlier one tells that the store was put
// back to an earlier state.
type sighting struct {
	mu    sync.Mutex
	known horizon
	epoch int64 // how often the store was found put back
	// doubts counts what did not fit, and resolved is how many of those were looked into.
	doubts, resolved int64
	apart            bool // a connection is new, and what happened before it is not known
	// doubted wakes who looks into it.
	doubted chan struct{}
	// verifying is held while somebody does.
	verifying sync.Mutex
	// rereading is held while views are read again.
	rereading sync.Mutex
}

// horizon is how far the store had got.
type horizon struct {
	cluster  uint64
	term     uint64
	revision int64
}

// moment is what was known before a request was sent.
type moment struct {
	horizon
	epoch int64
}

func (s *sighting) now() moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return moment{s.known, s.epoch}
}

// note takes in the header of an answer to a request that was sent after a moment.
func (s *sighting) note(header *pb.ResponseHeader, before moment) {
	if header.GetClusterId() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before.epoch != s.epoch {
		return // it may be of the store that was
	}
	if s.known.cluster == 0 {
		s.known.cluster, s.known.term = header.ClusterId, header.RaftTerm
	}
	if judge(before.horizon, header) != storeGoesOn || header.RaftTerm != s.known.term {
		s.doubtLocked()
	}
	if header.ClusterId == s.known.cluster {
		s.known.revision = max(s.known.revision, header.Revision)
	}
}

// reached takes in a revision that a watch has brought.
func (s *sighting) reached(revision, epoch int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch == s.epoch {
		s.known.revision = max(s.known.revision, revision)
	}
}

func (s *sighting) doubtful() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubts > s.resolved
}

// settle notes that so many doubts were looked into, and all consequences drawn.
func (s *sighting) settle(doubts int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resolved = max(s.resolved, doubts)
}

func (s *sighting) doubtLocked() {
	s.doubts++
	select {
	case s.doubted <- struct{}{}:
	default:
	}
}

// raise brings up a doubt that no answer has told of.
func (s *sighting) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtLocked()
}

// connected notes that there is a new connection. What the store told before went over
// others.
func (s *sighting) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.cluster != 0 {
		s.apart = true
		s.doubtLocked()
	}
}

type change int

const (
	storeGoesOn    change = iota + 1
	storeReelected        // its servers have voted, which they also do after a restart
	storeWentBack         // or is another one
)

// judge compares an answer with what was known before it was asked for. Only for a
// linearizable answer storeWentBack is a proof: another may be of a member that lags.
func judge(before horizon, header *pb.ResponseHeader) change {
	switch {
	case before.cluster == 0:
		return storeGoesOn
	case header.ClusterId != before.cluster, header.Revision < before.revision:
		return storeWentBack
	case header.RaftTerm != before.term:
		return storeReelected
	}
	return storeGoesOn
}

// observe takes in the answers to all requests but those on streams.
func (r *Registry) observe(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	before := r.sighting.now()
	err := invoke(ctx, method, request, reply, conn, options...)
	if answer, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok && err == nil {
		r.sighting.note(answer.GetHeader(), before)
	}
	return err
}

// resolveDoubts looks into doubts until Close.
func (r *Registry) resolveDoubts() {
	for retry := newRetry(); ; {
		select {
		case <-r.sighting.doubted:
		case <-r.ctx.Done():
			return
		}
		for {
			err := r.verify(r.ctx)
			if err == nil {
				retry.reset()
				break
			}
			r.log.Debug("cannot tell yet whether the store was put back", zap.Error(err))
			if !retry.wait(r.ctx) {
				return
			}
		}
	}
}

// verify finds out what is behind a doubt, if there is one, and draws the consequences
// before it returns.
func (r *Registry) verify(ctx context.Context) error {
	s := &r.sighting
	if !s.doubtful() {
		return nil
	}
	s.verifying.Lock()
	defer s.verifying.Unlock()
	if !s.doubtful() {
		return nil
	}
	var before moment
	var header *pb.ResponseHeader
	verdict := storeWentBack
	// Some servers have answered reads from the past after a pause, so one is no proof.
	for range 2 {
		before = s.now()
		read, err := r.head(ctx, "look whether the store was put back")
		if err != nil {
			return err
		}
		header = read.Header
		if verdict = judge(before.horizon, header); verdict != storeWentBack {
			break
		}
	}
	if verdict == storeWentBack {
		r.startAnew(before, horizon{header.ClusterId, header.RaftTerm, header.Revision})
		return nil
	}
	s.mu.Lock()
	reread := s.apart || verdict == storeReelected
	s.apart, s.known.term = false, header.RaftTerm
	doubts := s.doubts
	s.mu.Unlock()
	if reread {
		r.rereadAll()
	}
	s.settle(doubts)
	return nil
}

// head is a linearizable read that returns next to nothing but its header.
func (r *Registry) head(ctx context.Context, what string) (read *clientv3.GetResponse, err error) {
	err = r.request(ctx, what, func(ctx context.Context) (err error) {
		read, err = r.client.Get(ctx, r.keys.prefix, clientv3.WithCountOnly())
		return err
	})
	return read, err
}

// errRestored is the cause of the end of a session whose store was put back.
var errRestored = fmt.Errorf("%w: %w", coord.ErrSessionLost, coord.ErrRestored)

// startAnew voids all that is known of a store which was put back since a moment: the
// session ends, and what is watched is read again. The session's lease is given back like
// that of any lost session: a handler that is still returning may stand in the tree.
func (r *Registry) startAnew(since moment, found horizon) {
	s := &r.sighting
	s.mu.Lock()
	if s.epoch != since.epoch {
		s.mu.Unlock()
		return // somebody else has found out
	}
	s.epoch++
	s.apart, s.known = false, found
	doubts := s.doubts
	s.mu.Unlock()
	r.log.Warn("the store was put back to an earlier state, or replaced by another one: the session ends, and everything is read anew",
		zap.Int64("from_revision", since.revision), zap.Int64("to_revision", found.revision), zap.Bool("same_cluster", found.cluster == since.cluster))
	if current := r.currentSession(); current != nil {
		current.end(errRestored)
	}
	r.followers.stream.Add(1) // no watch of the old state delays those to come
	for _, f := range r.liveFollowers() {
		f.void()
	}
	s.settle(doubts)
}

// rereadAll has all that is watched read again, because a store that was put back may
// have grown beyond what was known of it since. Every client of the store does so, so it
// takes its time; whoever wants to be sure earlier calls Sync.
func (r *Registry) rereadAll() {
	for _, f := range r.liveFollowers() {
		f.question()
	}
	if r.sighting.rereading.TryLock() {
		if !r.start(r.rereadSlowly) {
			r.sighting.rereading.Unlock()
		}
	}
}

// rereadSlowly reads again what is in question, in any order, until nothing is.
func (r *Registry) rereadSlowly() {
	defer r.sighting.rereading.Unlock()
	const few, each = 5 * time.Second, 50 * time.Millisecond
	for {
		live := slices.DeleteFunc(r.liveFollowers(), func(f *follower) bool { _, open := f.questioned(); return !open })
		if len(live) == 0 {
			return
		}
		pause := max(each, few/time.Duration(len(live)))
		for _, f := range live {
			if !sleep(r.ctx, pause/2+rand.N(pause)) {
				return
			}
			f.reread()
		}
	}
}

// lose ends a session that the store does not know any more. If that is because it was
// put back, the cause says so.
func (r *Registry) lose(ctx context.Context, s *session) {
	r.sighting.raise()
	if err := r.verify(ctx); err != nil {
		r.log.Debug("cannot tell whether the store was put back", zap.Error(err))
	}
	s.end(coord.ErrSessionLost)
}
