package etcd

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/metadata"
)

// followers are all that live, and the streams that their watches are on.
type followers struct {
	mu   sync.Mutex
	live map[*follower]struct{}
	// asked is when a stream was asked how far it is, if it has not answered since.
	asked map[int64]time.Time
	// faults is how many have one. logged is when that was told last, and telling is
	// whether its end is to be told.
	faults  int
	logged  time.Time
	telling bool

	// stream is a number in the metadata of a watch's context: the client puts those
	// with equal metadata on one stream. It is the stream of all watches to come. One
	// that is silent is left; so is one that refuses new watches, because its token
	// has expired: a stream is logged in once, when it begins.
	stream atomic.Int64
}

// leaveStream has watches begin on another stream.
func (r *Registry) leaveStream(stream int64) { r.followers.stream.CompareAndSwap(stream, stream+1) }

const streamHeader = "elasticjob-watch-stream"

// streamContext replaces whatever metadata a caller's context has.
func streamContext(ctx context.Context, stream int64) context.Context {
	ctx = metadata.NewOutgoingContext(ctx, metadata.Pairs(streamHeader, strconv.FormatInt(stream, 10)))
	return clientv3.WithRequireLeader(ctx)
}

// askProgress asks a stream how far it is, unless it was asked just now: all watches on
// it hear the answer.
func (r *Registry) askProgress(ctx context.Context, stream int64) {
	const patience = 20 * time.Millisecond
	r.followers.mu.Lock()
	if time.Since(r.followers.asked[stream]) < patience {
		r.followers.mu.Unlock()
		return
	}
	if r.followers.asked == nil {
		r.followers.asked = make(map[int64]time.Time)
	}
	maps.DeleteFunc(r.followers.asked, func(_ int64, when time.Time) bool { return time.Since(when) > time.Minute }) // of streams that were left
	r.followers.asked[stream] = time.Now()
	r.followers.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// An error is as good as no answer, which can happen at any time.
	_ = r.client.RequestProgress(streamContext(ctx, stream))
}

// answered notes that a stream has told how far it is.
func (r *Registry) answered(stream int64) {
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	delete(r.followers.asked, stream)
}

func (r *Registry) addFollower(f *follower) {
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	if r.followers.live == nil {
		r.followers.live = make(map[*follower]struct{})
	}
	r.followers.live[f] = struct{}{}
}

func (r *Registry) removeFollower(f *follower) {
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	delete(r.followers.live, f)
}

func (r *Registry) liveFollowers() []*follower {
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	return slices.Collect(maps.Keys(r.followers.live))
}

// lookAfterWatches is told the store's revision after each keep-alive. Watches that are
// behind it are asked how far they are, all of a stream by one question; one that brings
// nothing for longer than the request time-out has gone silent. Nothing is asked while
// the store's revision stands still.
func (r *Registry) lookAfterWatches(revision int64) {
	ask := make(map[int64]struct{}) // streams
	for _, f := range r.liveFollowers() {
		switch stream, verdict := f.look(revision, r.config.RequestTimeout); verdict {
		case watchBehind:
			ask[stream] = struct{}{}
		case watchSilent:
			f.giveUp()
		}
	}
	for stream := range ask {
		r.start(func() { r.askProgress(r.ctx, stream) })
	}
}

// countFault tells of the first fault, and of the end of the last one: thousands may
// come at once. What comes and goes is told once a minute.
func (r *Registry) countFault(what string, fault error) {
	const quiet = time.Minute
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	if fault == nil {
		if r.followers.faults--; r.followers.faults == 0 && r.followers.telling {
			r.followers.telling = false
			r.log.Info("all that is watched is followed again", zap.String("last", what))
		}
		return
	}
	if r.followers.faults++; r.followers.faults == 1 && time.Since(r.followers.logged) > quiet {
		r.followers.logged, r.followers.telling = time.Now(), true
		r.log.Warn("what is watched cannot be followed at present, so it may be old", zap.String("first", what), zap.Error(fault))
	}
}

func (r *Registry) logAttempt(what string, err error) {
	r.log.Debug("reading anew what was watched", zap.String("what", what), zap.Error(err))
}
