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
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// sighting is what answers have told about the store as a whole. In one store revisions only
// grow. So if an answer has a lower revision than one before it, the store may have been put
// back to an earlier state. That is a doubt, which verify resolves.
type sighting struct {
	mu    sync.Mutex
	known horizon
	epoch int64 // how often the store was found to be put back
	// doubts counts all doubts so far, and resolved those of them that verify has resolved.
	doubts, resolved int64
	// reconnected: there is a new connection since the last verify. Nobody knows what
	// happened to the store before it.
	reconnected bool
	// doubted wakes resolveDoubts.
	doubted chan struct{}
	// verifying is held by verify.
	verifying sync.Mutex
	// rereading is held by rereadSlowly.
	rereading sync.Mutex
}

// horizon is the newest state of the store that is known.
type horizon struct {
	cluster  uint64
	term     uint64
	revision int64
}

// moment is what was known at some time, such as before a request was sent.
type moment struct {
	horizon
	epoch int64
}

func (s *sighting) now() moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return moment{s.known, s.epoch}
}

// note evaluates the header of an answer. before is what was known before the request was
// sent.
func (s *sighting) note(header *pb.ResponseHeader, before moment) {
	if header.GetClusterId() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before.epoch != s.epoch {
		return // the answer may come from the store as it was before
	}
	if s.known.cluster == 0 {
		s.known.cluster, s.known.term = header.ClusterId, header.RaftTerm
	}
	if compare(before.horizon, header) != storeGoesOn || header.RaftTerm != s.known.term {
		s.doubtLocked()
	}
	if header.ClusterId == s.known.cluster {
		s.known.revision = max(s.known.revision, header.Revision)
	}
}

// reached notes a revision that a watch has brought.
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

// settle notes that the first so many doubts are resolved, with all consequences.
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

// doubt raises a doubt that does not come from an answer.
func (s *sighting) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtLocked()
}

// connected notes that there is a new connection: it may lead to a store that was put back
// meanwhile.
func (s *sighting) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.cluster != 0 {
		s.reconnected = true
		s.doubtLocked()
	}
}

// storeChange says what an answer tells about the store.
type storeChange int

const (
	storeGoesOn    storeChange = iota + 1
	storeReelected             // it has elected a leader, as it also does after a restart
	storeWentBack              // it was put back, or is another one
)

// compare compares an answer with what was known before its request was sent. storeWentBack
// is a proof only if the answer is linearizable: any other may come from a member that lags.
func compare(before horizon, header *pb.ResponseHeader) storeChange {
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

// observe is a gRPC interceptor that notes the answers to all requests but those on streams.
func (r *Registry) observe(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	before := r.sighting.now()
	err := invoke(ctx, method, request, reply, conn, options...)
	if answer, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok && err == nil {
		r.sighting.note(answer.GetHeader(), before)
	}
	if isAnswer(err) && !strings.HasPrefix(method, "/etcdserverpb.Maintenance/") { // which a member answers alone
		r.liveness.Answered()
	}
	return err
}

// resolveDoubts resolves doubts as they come, until Close.
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
			r.log.Debug("cannot check yet whether the store was put back", zap.Error(err))
			if !retry.wait(r.ctx) {
				return
			}
		}
	}
}

// verify resolves the doubts that there are: it finds out whether the store was put back, and
// returns when all consequences are drawn.
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
	// One read is no proof: some servers have answered it from the past after a pause.
	for range 2 {
		before = s.now()
		read, err := r.head(ctx, "check whether the store was put back")
		if err != nil {
			return err
		}
		header = read.Header
		if verdict = compare(before.horizon, header); verdict != storeWentBack {
			break
		}
	}
	if verdict == storeWentBack {
		r.startAnew(before, horizon{header.ClusterId, header.RaftTerm, header.Revision})
		return nil
	}
	s.mu.Lock()
	reread := s.reconnected || verdict == storeReelected
	s.reconnected, s.known.term = false, header.RaftTerm
	doubts := s.doubts
	s.mu.Unlock()
	if reread {
		r.rereadAll()
	}
	s.settle(doubts)
	return nil
}

// head is a small linearizable read. Callers need the header of its answer.
func (r *Registry) head(ctx context.Context, what string) (read *clientv3.GetResponse, err error) {
	err = r.request(ctx, what, func(ctx context.Context) (err error) {
		read, err = r.client.Get(ctx, r.keys.prefix, clientv3.WithCountOnly())
		return err
	})
	return read, err
}

// errRestored is the cause of the end of a session whose store was put back.
var errRestored = fmt.Errorf("%w: %w", coord.ErrSessionLost, coord.ErrRestored)

// startAnew drops all that is known about a store that was put back since a moment: the
// session ends, and everything that is followed is read again. The session's lease is
// revoked only at its time-out, like that of any lost session: the session's nodes may be
// in the restored tree, for work that has not returned yet.
func (r *Registry) startAnew(since moment, found horizon) {
	s := &r.sighting
	s.mu.Lock()
	if s.epoch != since.epoch {
		s.mu.Unlock()
		return // somebody else has found that out and done this
	}
	s.epoch++
	s.reconnected, s.known = false, found
	doubts := s.doubts
	s.mu.Unlock()
	r.log.Warn("the store was put back to an earlier state, or replaced by another one: the session ends, and everything is read again",
		zap.Int64("from_revision", since.revision), zap.Int64("to_revision", found.revision), zap.Bool("same_cluster", found.cluster == since.cluster))
	if current := r.currentSession(); current != nil {
		current.end(errRestored)
	}
	r.watches.leave(errRestored) // watches of the old state must not delay the new ones
	r.watches.each((*follower).forget)
	s.settle(doubts)
}

// rereadAll makes everything that is followed be read again: a store that was put back may
// have grown beyond the known revision since. All clients of the store do that at the same
// time, so it goes slowly. Sync does it at once for its view.
func (r *Registry) rereadAll() {
	r.watches.each((*follower).markSuspect)
	if r.sighting.rereading.TryLock() {
		if !r.start(r.rereadSlowly) {
			r.sighting.rereading.Unlock()
		}
	}
}

// rereadSlowly makes suspect followers read again, one after the other, until none is left.
// A few of them are spread over the time spread; many follow each other by the time least.
func (r *Registry) rereadSlowly() {
	defer r.sighting.rereading.Unlock()
	const spread, least = 5 * time.Second, 50 * time.Millisecond
	for {
		suspects := slices.DeleteFunc(r.watches.all(), func(f *follower) bool { return !f.suspect() })
		if len(suspects) == 0 {
			return
		}
		pause := max(least, spread/time.Duration(len(suspects)))
		for _, f := range suspects {
			if !rest.For(r.ctx, pause/2+rand.N(pause)) {
				return
			}
			f.rereadIfSuspect()
		}
	}
}

// lose ends a session that the store does not know any more. If the store was put back, the
// cause of the session's end says so.
func (r *Registry) lose(ctx context.Context, s *session) {
	r.sighting.doubt()
	if err := r.verify(ctx); err != nil {
		r.log.Debug("cannot check whether the store was put back", zap.Error(err))
	}
	s.end(coord.ErrSessionLost)
}
