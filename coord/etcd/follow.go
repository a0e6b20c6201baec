package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// follower keeps something equal to a range of keys: it reads the range once, and applies
// what a watch brings. It starts over when it cannot rely on the watch: the watch broke,
// fell behind the store's compaction or went silent, or the store was put back.
//
// The watch begins first, at the newest revision, and the range is read after that. So
// nothing is missed in between, and the watch answers progress requests. A watch that
// begins at a later revision does not answer them, and keeps all others on its stream from
// answering too.
type follower struct {
	registry *Registry
	what     string
	keys     keyRange
	// load reads the range, and returns the revision at which it was read.
	load func(context.Context) (int64, error)
	// apply gets whole revisions, in order, all later than the one that load returned.
	apply func([]*clientv3.Event) error
	// tryOnce ends the follower if its first attempt fails.
	tryOnce bool
	// endOnDenial ends the follower if it is denied.
	endOnDenial bool
	// onFault, unless it is nil, is called when the fault has changed.
	onFault func()

	mu       sync.Mutex
	applied  int64         // everything up to this revision is applied
	moved    chan struct{} // closed when applied grows, or the range was read
	stream   int64         // that carries the watch
	epoch    int64         // of the store, when the watch began
	endWatch func()        // nil while there is no watch
	loaded   bool          // the range was read once
	// suspect: there was a new connection or an election since the range was read, so the
	// store may have been put back. The range has to be read again before it counts.
	suspect bool
	// expected is a revision that the store is known to have.
	expected     int64
	quietSince   time.Time // the watch has brought nothing since then, or since something is expected
	failingSince time.Time // attempts fail since then; zero if the last one has read the range
	fault        error
}

func newFollower(r *Registry, what string, keys keyRange, load func(context.Context) (int64, error), apply func([]*clientv3.Event) error) *follower {
	return &follower{registry: r, what: what, keys: keys, load: load, apply: apply, moved: make(chan struct{})}
}

// errFinal marks what ends a follower.
var errFinal = errors.New("final")

// run follows the range until ctx ends, or load or apply returns an error that wraps
// errFinal. All other errors make it try again; see also tryOnce and endOnDenial.
func (f *follower) run(ctx context.Context) error {
	f.registry.addFollower(f)
	defer f.registry.removeFollower(f)
	defer f.setFault(nil)
	retry, denied := newRetry(), newRetryBetween(500*time.Millisecond, 5*time.Second)
	for {
		began := time.Now()
		err := f.attempt(ctx)
		refused := errors.Is(err, coord.ErrDenied)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("etcd: %s: %w", f.what, context.Cause(ctx))
		case errors.Is(err, errFinal), f.endOnDenial && refused, f.tryOnce && !f.hasLoaded() && !errors.Is(err, coord.ErrRestored):
			return err
		}
		if time.Since(began) > retry.max {
			retry.reset()
			denied.reset()
		}
		f.failed(err, refused)
		if refused {
			denied.wait(ctx)
		} else {
			retry.wait(ctx)
		}
	}
}

func (f *follower) hasLoaded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaded
}

// attempt watches, loads, and applies until the watch ends. It returns why that ended.
func (f *follower) attempt(ctx context.Context) error {
	r := f.registry
	stream, epoch := r.followers.stream.Load(), r.sighting.now().epoch
	watching, end := context.WithCancelCause(streamContext(ctx, stream))
	defer end(nil)

	// Watch returns when the store has confirmed the watch, which may be never.
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
	if !f.begun(applied, stream, epoch, func() { end(errSilent) }) {
		return fmt.Errorf("etcd: %s: %w", f.what, coord.ErrRestored)
	}
	defer f.ended()

	for response := range responses {
		if err := watchError(&response); err != nil {
			if refusedToken(err) {
				r.leaveStream(stream)
				return fmt.Errorf("the watch stream has to log in again: %v", err)
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

var (
	errSilent = fmt.Errorf("%w: the watch is silent", coord.ErrUnavailable)
	errBehind = fmt.Errorf("%w: the watch stays behind the store", coord.ErrUnavailable)
)

// follow applies a response, and returns the revision up to which everything is applied
// then. A response holds whole revisions: the server never divides one, and the client
// joins fragments.
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
	// The header of a progress notification counts. That of a response with events does not:
	// it may be ahead of them.
	if response.IsProgressNotify() {
		f.registry.answered(f.stream)
		applied = max(applied, response.Header.Revision)
	}
	f.advance(applied)
	return applied, nil
}

// begun notes that the range was read, and that a watch follows it. It reports false if the
// store was put back meanwhile: then what was read does not count.
func (f *follower) begun(revision, stream, epoch int64, endWatch func()) bool {
	f.mu.Lock()
	if f.registry.sighting.now().epoch != epoch {
		f.mu.Unlock()
		return false
	}
	f.stream, f.epoch, f.endWatch = stream, epoch, endWatch
	f.failingSince = time.Time{}
	f.suspect, f.loaded = false, true
	f.moveLocked(revision)
	whole := f.applied >= f.expected
	f.mu.Unlock()
	f.registry.sighting.reached(revision, epoch)
	if whole {
		f.setFault(nil)
	}
	return true
}

func (f *follower) ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endWatch = nil
}

func (f *follower) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied
}

// advance notes that everything up to a revision is applied. A watch that was ended may
// still bring something, which does not count.
func (f *follower) advance(revision int64) {
	f.mu.Lock()
	if f.endWatch == nil || revision <= f.applied {
		f.mu.Unlock()
		return
	}
	epoch := f.epoch
	f.moveLocked(revision)
	whole := f.applied >= f.expected && !f.suspect && f.fault != nil
	f.mu.Unlock()
	f.registry.sighting.reached(revision, epoch)
	if whole {
		f.setFault(nil)
	}
}

func (f *follower) moveLocked(revision int64) {
	f.applied = max(f.applied, revision)
	f.quietSince = time.Now()
	close(f.moved)
	f.moved = make(chan struct{})
}

// forget drops what is known about a store that was put back: it is another one now.
func (f *follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.applied, f.expected, f.suspect = 0, 0, false
	f.endWatchLocked()
}

// markSuspect says that the range has to be read again before it counts.
func (f *follower) markSuspect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.suspect = true
}

// rereadIfSuspect has the range read again now if it is suspect.
func (f *follower) rereadIfSuspect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.suspect {
		f.endWatchLocked()
	}
}

// suspicion returns whether the range is suspect, and up to which revision it was applied.
// load uses that to find out whether the store was put back.
func (f *follower) suspicion() (applied int64, suspect bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied, f.suspect
}

// startOver ends the watch, so that the range is read again. It does nothing while there is
// no watch: the range will be read then anyway.
func (f *follower) startOver() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endWatchLocked()
}

func (f *follower) endWatchLocked() {
	if f.endWatch != nil {
		f.endWatch()
		f.endWatch = nil
	}
}

// reach waits until everything up to a revision is applied. Mostly an event has brought that
// revision, or will at once. If not, a progress request asks the watch stream how far it
// is. The stream does not answer while any of its watches is behind, so after some
// requests without an answer the range is read again.
func (f *follower) reach(ctx context.Context, revision int64) error {
	f.expect(revision)
	f.rereadIfSuspect()
	const requests = 8 // within 255 ms
	for i := range requests {
		patience := time.Millisecond << i
		if done, err := f.await(ctx, revision, patience); done || err != nil {
			return err
		}
		f.askProgress(ctx)
	}
	f.startOver()
	done, err := f.await(ctx, revision, f.registry.config.RequestTimeout)
	if done || err != nil {
		return err
	}
	f.giveUp()
	return fmt.Errorf("%w: it does not reach revision %d", cmp.Or(f.Fault(), errBehind), revision)
}

// await waits for at most the patience, and reports whether the revision was reached.
func (f *follower) await(ctx context.Context, revision int64, patience time.Duration) (bool, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		f.mu.Lock()
		there, moved := f.applied >= revision && !f.suspect, f.moved
		f.mu.Unlock()
		if there {
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

// askProgress asks the stream of the watch how far it is.
func (f *follower) askProgress(ctx context.Context) {
	f.mu.Lock()
	stream, watching := f.stream, f.endWatch != nil
	f.mu.Unlock()
	if watching {
		f.registry.askProgress(ctx, stream)
	}
}

// expect notes a revision that the store has. If the watch has not reached the one that is
// expected already, that one stays.
func (f *follower) expect(revision int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expectLocked(revision)
}

func (f *follower) expectLocked(revision int64) {
	if f.applied >= f.expected && revision > f.applied {
		f.expected, f.quietSince = revision, time.Now()
	}
}

// watchState says how a watch stands against the revision of the store.
type watchState int

const (
	watchFine watchState = iota + 1
	watchBehind
	watchSilent
)

// inspect compares the watch with the revision of the store. The watch is silent if it is
// behind, and has brought nothing for longer than the patience.
func (f *follower) inspect(revision int64, patience time.Duration) (stream int64, _ watchState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.endWatch == nil || f.applied >= revision {
		return f.stream, watchFine
	}
	f.expectLocked(revision)
	if time.Since(f.quietSince) > patience {
		return f.stream, watchSilent
	}
	return f.stream, watchBehind
}

// giveUp makes a watch that stays behind begin again on another stream. That is a fault until
// the watch has caught up.
func (f *follower) giveUp() {
	f.mu.Lock()
	watching, stream, fault := f.endWatch != nil, f.stream, f.fault
	f.mu.Unlock()
	if watching {
		f.registry.leaveStream(stream)
	}
	if fault == nil {
		f.setFault(fmt.Errorf("etcd: %s: %w", f.what, errBehind))
	}
	f.startOver()
}

// failed notes that an attempt failed. A denial is a fault at once; any other error is one
// only if attempts fail for longer than the request time-out, because most end sooner.
func (f *follower) failed(err error, denied bool) {
	f.mu.Lock()
	if f.failingSince.IsZero() {
		f.failingSince = time.Now()
	}
	long := time.Since(f.failingSince) > f.registry.config.RequestTimeout
	f.mu.Unlock()
	f.registry.log.Debug("cannot follow a part of the store; it will be read again", zap.String("what", f.what), zap.Error(err))
	if denied || long {
		f.setFault(err)
	}
}

// Fault returns what [coord.View.Fault] returns for a view.
func (f *follower) Fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

func (f *follower) setFault(fault error) {
	f.mu.Lock()
	before := f.fault
	f.fault = fault
	f.mu.Unlock()
	began, ended := before == nil && fault != nil, before != nil && fault == nil
	if began || ended {
		f.registry.countFault(f.what, fault)
	}
	another := before != nil && fault != nil && errors.Is(before, coord.ErrDenied) != errors.Is(fault, coord.ErrDenied)
	if f.onFault != nil && (began || ended || another) {
		f.onFault()
	}
}

// awaitRemoval returns nil once a key is removed. created is the CreateRevision of the key
// that is meant; 0 means any. It returns an error if ctx ends and, with endOnDenial, if the
// key may not be read.
func (r *Registry) awaitRemoval(ctx context.Context, key string, created int64, endOnDenial bool) error {
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
	f := newFollower(r, what, keyRange{key, key + "\x00"}, load, apply)
	f.endOnDenial = endOnDenial
	err := f.run(ctx)
	if errors.Is(err, errRemoved) {
		return nil
	}
	return err
}

var errRemoved = fmt.Errorf("%w: the key was removed", errFinal)
