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

// followers holds all followers that run, and knows the streams that carry their watches.
type followers struct {
	mu   sync.Mutex
	live map[*follower]struct{}
	// asked says when a progress request was sent on a stream that has not answered since.
	asked map[int64]time.Time
	// faults counts the followers that have a fault. logged is when the log said so last.
	// logEnd: it is also to say when the last fault ends.
	faults int
	logged time.Time
	logEnd bool

	// stream is the number of the stream on which new watches begin. It is put into the
	// metadata of a watch's context, because the client puts watches with equal metadata
	// on one stream. A stream that is silent is left. So is one that refuses new watches
	// because its token has expired: a stream logs in only when it begins.
	stream atomic.Int64
}

// leaveStream makes new watches begin on another stream, unless that was done already.
func (r *Registry) leaveStream(stream int64) { r.followers.stream.CompareAndSwap(stream, stream+1) }

const streamHeader = "elasticjob-watch-stream"

// streamContext returns a context whose watches go on a stream. It replaces all metadata of
// the caller's context.
func streamContext(ctx context.Context, stream int64) context.Context {
	ctx = metadata.NewOutgoingContext(ctx, metadata.Pairs(streamHeader, strconv.FormatInt(stream, 10)))
	return clientv3.WithRequireLeader(ctx)
}

// askProgress sends a progress request on a stream: all watches on it get the answer. It
// sends none if there was one just now.
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
	maps.DeleteFunc(r.followers.asked, func(_ int64, when time.Time) bool { return time.Since(when) > time.Minute }) // streams that were left never answer
	r.followers.asked[stream] = time.Now()
	r.followers.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// An error needs no care: the answer does not come then, which callers expect anyway.
	_ = r.client.RequestProgress(streamContext(ctx, stream))
}

// answered notes that a stream has answered a progress request.
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

// lookAfterWatches gets the store's revision after each keep-alive. Streams with a watch that
// is behind get one progress request. A watch that is behind and brings nothing for longer
// than the request time-out is silent, and is given up. While the store's revision does not
// change nothing is sent.
func (r *Registry) lookAfterWatches(revision int64) {
	ask := make(map[int64]struct{}) // streams
	for _, f := range r.liveFollowers() {
		switch stream, state := f.inspect(revision, r.config.RequestTimeout); state {
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

// countFault counts the followers that have a fault. Thousands may get one at the same
// moment, so the log gets one line for the first of them, and one when the last has ended;
// and no such pair more often than once a minute.
func (r *Registry) countFault(what string, fault error) {
	const quiet = time.Minute
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	if fault == nil {
		if r.followers.faults--; r.followers.faults == 0 && r.followers.logEnd {
			r.followers.logEnd = false
			r.log.Info("changes in the store are followed again", zap.String("last", what))
		}
		return
	}
	if r.followers.faults++; r.followers.faults == 1 && time.Since(r.followers.logged) > quiet {
		r.followers.logged, r.followers.logEnd = time.Now(), true
		r.log.Warn("changes in the store cannot be followed at present, so views may be old", zap.String("first", what), zap.Error(fault))
	}
}
