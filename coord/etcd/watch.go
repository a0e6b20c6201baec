package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/metadata"

	"github.com/elasticjob-go/elasticjob/coord"
)

// follower keeps something equal to a range of keys: it reads the range once, applies
// what a watch brings, and starts over whenever the watch cannot be relied on: it broke,
// it fell behind the store's compaction, or it went silent.
//
// The watch begins first, at whatever is newest, and the range is read after that.
// Nothing can be missed in between, and such a watch always answers the question how far
// it is. One that begins at a revision to come does not, and keeps all others on its
// stream from answering too.
type follower struct {
	registry *Registry
	what     string
	keys     keyRange
	// load reads the range, and returns the revision at which it did.
	load func(context.Context) (int64, error)
	// apply is given whole revisions, later than what was loaded, in order.
	apply func([]*clientv3.Event) error
	// impatient makes the first attempt the last one, if it fails.
	impatient bool

	mu      sync.Mutex
	at      int64         // up to this revision everything is applied
	moved   chan struct{} // closed when at grows
	stream  int64         // the one that the watch is on
	restart func()        // ends the watch; nil while it begins

	// Of lookAfterWatches.
	seen       int64 // at, when it looked last
	unanswered int   // how often it asked since at has grown
}

func newFollower(r *Registry, what string, keys keyRange, load func(context.Context) (int64, error), apply func([]*clientv3.Event) error) *follower {
	return &follower{registry: r, what: what, keys: keys, load: load, apply: apply, moved: make(chan struct{})}
}

// followers are all that live, and the streams that their watches are on.
type followers struct {
	mu   sync.Mutex
	live map[*follower]struct{}
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

// errFinal marks what ends a follower.
var errFinal = errors.New("final")

// run follows until ctx ends, or for good: access is denied, or load or apply returned an
// error that wraps errFinal.
func (f *follower) run(ctx context.Context) error {
	f.registry.addFollower(f)
	defer f.registry.removeFollower(f)
	retry := newRetry()
	for {
		began := time.Now()
		err := f.attempt(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("etcd: %s: %w", f.what, context.Cause(ctx))
		case errors.Is(err, errFinal), errors.Is(err, coord.ErrDenied), f.impatient && !f.hasBegun():
			return err
		}
		level := zapcore.DebugLevel // of an attempt that came to nothing
		if time.Since(began) > retry.max {
			level = zapcore.InfoLevel
			retry.reset()
		}
		f.registry.log.Log(level, "reading anew what was watched", zap.String("what", f.what), zap.Error(err))
		retry.wait(ctx)
	}
}

func (f *follower) hasBegun() bool {
	at, _ := f.position()
	return at > 0
}

// attempt watches, loads, and applies until the watch ends, and returns why it did.
func (f *follower) attempt(ctx context.Context) error {
	r := f.registry
	stream := r.followers.stream.Load()
	watching, end := context.WithCancelCause(streamContext(ctx, stream))
	defer end(nil)

	// Watch returns when the store knows the watch, which may be never.
	timer := time.AfterFunc(r.config.RequestTimeout, func() { end(errSilent) })
	responses := r.client.Watch(watching, f.keys.from, clientv3.WithRange(f.keys.to), clientv3.WithFragment())
	if !timer.Stop() {
		r.leaveStream(stream)
		return fmt.Errorf("etcd: %s: %w", f.what, errSilent)
	}
	applied, err := f.load(watching)
	if err != nil {
		return err
	}
	f.begun(applied, stream, func() { end(errSilent) })
	defer f.ended()

	for response := range responses {
		if err := watchError(&response); err != nil {
			if refusedToken(err) {
				r.leaveStream(stream)
				return fmt.Errorf("the watch stream has to log in again: %w", err)
			}
			return convertError(watching, err, f.what)
		}
		if applied, err = f.follow(&response, applied); err != nil {
			return err
		}
	}
	if cause := context.Cause(watching); cause != nil {
		return cause
	}
	return errors.New("the watch ended")
}

var errSilent = fmt.Errorf("%w: the watch is silent", coord.ErrUnavailable)

// follow applies a response, and returns up to where everything is applied then. A
// response holds whole revisions: the server never divides one, and the client puts
// fragments together.
func (f *follower) follow(response *clientv3.WatchResponse, applied int64) (int64, error) {
	events := response.Events
	for len(events) > 0 && events[0].Kv.ModRevision <= applied {
		events = events[1:]
	}
	if len(events) > 0 {
		if err := f.apply(events); err != nil {
			return applied, err
		}
		applied = events[len(events)-1].Kv.ModRevision
	}
	// The header of a response with events may be ahead of them.
	if response.IsProgressNotify() {
		applied = max(applied, response.Header.Revision)
	}
	f.advance(applied)
	return applied, nil
}

func (f *follower) begun(revision, stream int64, restart func()) {
	f.mu.Lock()
	if revision < f.at {
		f.registry.log.Warn("the store's revision went back, as after a restore", zap.Int64("from", f.at), zap.Int64("to", revision))
		f.at = 0
	}
	f.stream, f.restart, f.unanswered = stream, restart, 0
	f.mu.Unlock()
	f.advance(revision)
}

func (f *follower) ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restart = nil
}

func (f *follower) position() (int64, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at, f.moved
}

func (f *follower) advance(revision int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if revision > f.at {
		f.at = revision
		close(f.moved)
		f.moved = make(chan struct{})
	}
}

// reach waits until everything up to a revision is applied. An event tells that by its
// revision, and else the watch stream is asked how far it is. It may not answer: any
// watch on it that is behind is reason enough. After some questions the range is read.
func (f *follower) reach(ctx context.Context, revision int64) error {
	const questions = 6 // within 315 ms
	for {
		for i := range questions {
			patience := 5 * time.Millisecond << i
			f.ask(ctx, patience)
			if done, err := f.await(ctx, revision, patience); done || err != nil {
				return err
			}
		}
		f.startOver()
		if done, err := f.await(ctx, revision, f.registry.config.RequestTimeout); done || err != nil {
			return err
		}
	}
}

// await waits for a while, and reports whether the revision was reached.
func (f *follower) await(ctx context.Context, revision int64, patience time.Duration) (bool, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		at, moved := f.position()
		if at >= revision {
			return true, nil
		}
		select {
		case <-moved:
		case <-timer.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// ask has the watch stream tell all its watches how far they are.
func (f *follower) ask(ctx context.Context, patience time.Duration) {
	f.mu.Lock()
	stream, watching := f.stream, f.restart != nil
	f.mu.Unlock()
	if watching {
		f.registry.askProgress(ctx, stream, patience)
	}
}

func (r *Registry) askProgress(ctx context.Context, stream int64, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// An error is as good as no answer, which can happen at any time.
	_ = r.client.RequestProgress(streamContext(ctx, stream))
}

// startOver ends the watch, so that the range is read again. While that happens anyway it
// does nothing.
func (f *follower) startOver() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.restart != nil {
		f.restart()
	}
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

// lookAfterWatches is told the store's revision after each keep-alive. Watches that are
// behind it are asked how far they are, all of a stream by one question; one that neither
// answers nor brings anything in two intervals has gone silent. Nothing is asked while the
// store's revision stands still.
func (r *Registry) lookAfterWatches(revision int64, patience time.Duration) {
	ask := make(map[int64]struct{}) // streams
	r.followers.mu.Lock()
	for f := range r.followers.live {
		switch stream, verdict := f.look(revision); verdict {
		case watchBehind:
			ask[stream] = struct{}{}
		case watchSilent:
			r.leaveStream(stream)
			f.startOver()
		}
	}
	r.followers.mu.Unlock()
	for stream := range ask {
		r.start(func() { r.askProgress(r.ctx, stream, patience) })
	}
}

type verdict int

const (
	watchFine verdict = iota + 1
	watchBehind
	watchSilent
)

func (f *follower) look(revision int64) (stream int64, _ verdict) {
	const enough = 2
	f.mu.Lock()
	defer f.mu.Unlock()
	moved := f.at > f.seen
	f.seen = f.at
	switch {
	case f.restart == nil || f.at >= revision:
		f.unanswered = 0
		return f.stream, watchFine
	case moved:
		f.unanswered = 0
	case f.unanswered == enough:
		return f.stream, watchSilent
	}
	f.unanswered++
	return f.stream, watchBehind
}

// awaitRemoval returns nil once a life of a key is over: that which began at the revision
// created, or any if it is 0. It returns an error if ctx ends, or the key may not be read.
func (r *Registry) awaitRemoval(ctx context.Context, key string, created int64) error {
	what := "watch " + key
	load := func(ctx context.Context) (int64, error) {
		var read *clientv3.GetResponse
		err := r.request(ctx, what, func(ctx context.Context) (err error) {
			read, err = r.client.Get(ctx, key, clientv3.WithKeysOnly())
			return err
		})
		switch {
		case err != nil:
			return 0, err
		case len(read.Kvs) == 0 || created != 0 && read.Kvs[0].CreateRevision != created:
			return 0, errRemoved
		}
		return read.Header.Revision, nil
	}
	apply := func(events []*clientv3.Event) error {
		for _, e := range events {
			if e.Type == mvccpb.Event_DELETE {
				return errRemoved
			}
		}
		return nil
	}
	err := newFollower(r, what, keyRange{key, key + "\x00"}, load, apply).run(ctx)
	if errors.Is(err, errRemoved) {
		return nil
	}
	return err
}

var errRemoved = fmt.Errorf("%w: the key was removed", errFinal)
