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

	"github.com/elasticjob-go/elasticjob/coord"
)

// follower keeps something equal to a range of keys: it reads the range once, applies
// what a watch brings, and starts over whenever the watch cannot be relied on: it broke,
// it fell behind the store's compaction, it went silent, or the store was put back.
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
	// yielding makes a denial end it.
	yielding bool
	// told, unless it is nil, is called when the fault has changed.
	told func()

	mu      sync.Mutex
	at      int64         // up to this revision everything is applied
	moved   chan struct{} // closed when at grows, or a question is answered
	stream  int64         // the one that the watch is on
	epoch   int64         // of the store that the watch is of
	restart func()        // ends the watch; nil while it begins
	once    bool          // the range was read once
	// open: the servers have voted since the range was read, so that it has to be read
	// again before it is taken for the truth.
	open bool
	// owed is a revision that the store is known to have, and the watch has not reached.
	owed    int64
	waiting time.Time // since when something is owed, and nothing has come
	failing time.Time // since when attempts fail; zero if none has
	fault   error
}

func newFollower(r *Registry, what string, keys keyRange, load func(context.Context) (int64, error), apply func([]*clientv3.Event) error) *follower {
	return &follower{registry: r, what: what, keys: keys, load: load, apply: apply, moved: make(chan struct{})}
}

// errFinal marks what ends a follower.
var errFinal = errors.New("final")

// run follows until ctx ends, or load or apply returns an error that wraps errFinal. What
// may not be read now, or cannot be, is tried again: that is a fault, and no end.
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
		case errors.Is(err, errFinal), f.yielding && refused, f.impatient && !f.hasBegun() && !errors.Is(err, coord.ErrRestored):
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

func (f *follower) hasBegun() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.once
}

// attempt watches, loads, and applies until the watch ends, and returns why it did.
func (f *follower) attempt(ctx context.Context) error {
	r := f.registry
	stream, epoch := r.followers.stream.Load(), r.sighting.now().epoch
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
		f.registry.answered(f.stream)
		applied = max(applied, response.Header.Revision)
	}
	f.advance(applied)
	return applied, nil
}

// begun notes that the range was read, and is watched. It reports false if the store was
// put back meanwhile: then what was read says nothing.
func (f *follower) begun(revision, stream, epoch int64, restart func()) bool {
	f.mu.Lock()
	if f.registry.sighting.now().epoch != epoch {
		f.mu.Unlock()
		return false
	}
	f.stream, f.epoch, f.restart = stream, epoch, restart
	f.failing = time.Time{}
	f.open, f.once = false, true
	f.moveLocked(revision)
	whole := f.at >= f.owed
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
	f.restart = nil
}

func (f *follower) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// advance notes that everything up to a revision is applied.
func (f *follower) advance(revision int64) {
	f.mu.Lock()
	if f.restart == nil || revision <= f.at { // a watch that was given up may still have something to say
		f.mu.Unlock()
		return
	}
	epoch := f.epoch
	f.moveLocked(revision)
	whole := f.at >= f.owed && !f.open && f.fault != nil
	f.mu.Unlock()
	f.registry.sighting.reached(revision, epoch)
	if whole {
		f.setFault(nil)
	}
}

func (f *follower) moveLocked(revision int64) {
	f.at = max(f.at, revision)
	f.waiting = time.Now()
	close(f.moved)
	f.moved = make(chan struct{})
}

// void forgets a store that was put back: it is another one now.
func (f *follower) void() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.owed, f.open = 0, 0, false
	f.restartLocked()
}

// question has the range read again before it is taken for the truth.
func (f *follower) question() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = true
}

// reread answers an open question now.
func (f *follower) reread() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open {
		f.restartLocked()
	}
}

// questioned reports what to compare the range with, now that it is read: the revision up
// to which it was known, and whether that is in question.
func (f *follower) questioned() (at int64, open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at, f.open
}

// startOver ends the watch, so that the range is read again. While that happens anyway it
// does nothing.
func (f *follower) startOver() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restartLocked()
}

func (f *follower) restartLocked() {
	if f.restart != nil {
		f.restart()
		f.restart = nil
	}
}

// reach waits until everything up to a revision is applied. Mostly an event has told
// that by its revision, or is about to. Else the watch stream is asked how far it is. It
// may not answer: any watch on it that is behind is reason enough. After some questions
// the range is read.
func (f *follower) reach(ctx context.Context, revision int64) error {
	f.owe(revision)
	f.reread()
	const questions = 8 // within 255 ms
	for i := range questions {
		patience := time.Millisecond << i
		if done, err := f.await(ctx, revision, patience); done || err != nil {
			return err
		}
		f.ask(ctx)
	}
	f.startOver()
	done, err := f.await(ctx, revision, f.registry.config.RequestTimeout)
	if done || err != nil {
		return err
	}
	f.giveUp()
	return fmt.Errorf("%w: it does not reach revision %d", cmp.Or(f.Fault(), errBehind), revision)
}

// await waits for a while, and reports whether the revision was reached.
func (f *follower) await(ctx context.Context, revision int64, patience time.Duration) (bool, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		f.mu.Lock()
		there, moved := f.at >= revision && !f.open, f.moved
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

// ask has the watch stream tell all its watches how far they are.
func (f *follower) ask(ctx context.Context) {
	f.mu.Lock()
	stream, watching := f.stream, f.restart != nil
	f.mu.Unlock()
	if watching {
		f.registry.askProgress(ctx, stream)
	}
}

// owe notes a revision that the store has. What is owed already comes first.
func (f *follower) owe(revision int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.oweLocked(revision)
}

func (f *follower) oweLocked(revision int64) {
	if f.at >= f.owed && revision > f.at {
		f.owed, f.waiting = revision, time.Now()
	}
}

type verdict int

const (
	watchFine verdict = iota + 1
	watchBehind
	watchSilent
)

// look compares the watch with the revision of the store. It is silent if it owes
// something, and has brought nothing for longer than the patience.
func (f *follower) look(revision int64, patience time.Duration) (stream int64, _ verdict) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.restart == nil || f.at >= revision {
		return f.stream, watchFine
	}
	f.oweLocked(revision)
	if time.Since(f.waiting) > patience {
		return f.stream, watchSilent
	}
	return f.stream, watchBehind
}

// giveUp has a watch that stays behind begin again, on another stream, and says so until
// it has caught up.
func (f *follower) giveUp() {
	f.mu.Lock()
	watching, stream, fault := f.restart != nil, f.stream, f.fault
	f.mu.Unlock()
	if watching {
		f.registry.leaveStream(stream)
	}
	if fault == nil {
		f.setFault(fmt.Errorf("etcd: %s: %w", f.what, errBehind))
	}
	f.startOver()
}

// failed notes that an attempt failed. A denial is a fault at once, and anything else
// after a while: most of it is over by then.
func (f *follower) failed(err error, denied bool) {
	f.mu.Lock()
	if f.failing.IsZero() {
		f.failing = time.Now()
	}
	long := time.Since(f.failing) > f.registry.config.RequestTimeout
	f.mu.Unlock()
	f.registry.logAttempt(f.what, err)
	if denied || long {
		f.setFault(err)
	}
}

// Fault is what coord.View says of it.
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
	if f.told != nil && (began || ended || another) {
		f.told()
	}
}

// awaitRemoval returns nil once a life of a key is over: that which began at the revision
// created, or any if it is 0. It returns an error if ctx ends, or, where a denial is to be
// told, if the key may not be read.
func (r *Registry) awaitRemoval(ctx context.Context, key string, created int64, tellDenial bool) error {
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
	f.yielding = tellDenial
	err := f.run(ctx)
	if errors.Is(err, errRemoved) {
		return nil
	}
	return err
}

var errRemoved = fmt.Errorf("%w: the key was removed", errFinal)
