package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// watchAndRead waits for the watch if there is none, and then reads the range. slots, unless it is
// nil, bounds how many read at a time.
func (w *watcher) watchAndRead(ctx context.Context, slots chan struct{}) error {
	incarnation := w.registry.identity.now().incarnation
	if err := w.awaitWatch(ctx); err != nil {
		return err
	}
	if slots != nil {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			return fmt.Errorf("etcd: %s: %w", w.target, context.Cause(ctx))
		}
	}
	trusted, suspicions := w.beginLoad()
	revision, err := w.target.load(ctx, trusted)
	return w.endLoad(revision, err, incarnation, suspicions)
}

// awaitWatch returns when the range is covered.
func (w *watcher) awaitWatch(ctx context.Context) error {
	w.mu.Lock()
	if w.state.covered() || w.state.ended() {
		w.mu.Unlock()
		return nil
	}
	confirmation := make(chan error, 1)
	w.confirmation = confirmation
	if w.stream == nil {
		if s := w.registry.watchers.current(); s != nil {
			w.requestLocked(s, 0)
		}
	}
	w.mu.Unlock()
	select {
	case err := <-confirmation:
		return err
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		w.confirmation = nil
		return fmt.Errorf("etcd: %s: %w", w.target, context.Cause(ctx))
	}
}

func (w *watcher) beginLoad() (trusted int64, suspicions uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recordProgressLocked()
	w.state.onRead(onLoad)
	if w.suspicions != w.cleared {
		trusted = w.applied
	}
	return trusted, w.suspicions
}

// endLoad records a read of the range, and applies the events that were buffered meanwhile. It
// returns an error if what was read does not count, because it failed or because events were missed.
func (w *watcher) endLoad(revision int64, err error, incarnation int64, suspicions uint32) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.ended() {
		return fmt.Errorf("etcd: %s: %w", w.target, coord.ErrClosed)
	}
	if w.buffered > maxBuffered {
		err = cmp.Or(err, fmt.Errorf("etcd: %s: %w", w.target, errOverflow))
		w.invalidateLocked()
	}
	switch {
	case err == nil && w.registry.identity.now().incarnation != incarnation:
		err = fmt.Errorf("etcd: %s: %w", w.target, coord.ErrRestored)
		w.invalidateLocked()
	case err == nil && !w.state.covered():
		err = fmt.Errorf("etcd: %s: %w", w.target, errWatchEnded)
	}
	if err != nil {
		w.state.onRead(onFail)
	} else {
		w.state.onRead(onRead)
		w.cleared = suspicions
		w.applied = max(w.applied, revision)
		w.from = max(w.from, w.applied)
		w.failingSince, w.readAt = time.Time{}, time.Now()
		w.registry.identity.noteRevision(revision, incarnation)
		w.advanced.Fire()
	}
	if w.state.complete {
		if failed := w.applyBufferLocked(); failed != nil {
			return failed
		}
	}
	return err
}

// queueResyncLocked has a resync worker read the range again after a pause, unless that is due
// already or somebody reads.
func (w *watcher) queueResyncLocked(pause time.Duration) {
	if w.state.read != readIdle || w.state.ended() {
		return
	}
	w.state.onRead(onDue)
	if pause == 0 {
		w.registry.watchers.enqueue(w)
		return
	}
	time.AfterFunc(pause, func() { w.registry.watchers.enqueue(w) }) // after Close that does nothing
}

// resync reads the range again; a resync worker calls it.
func (w *watcher) resync() {
	w.mu.Lock()
	if w.state.ended() {
		w.mu.Unlock()
		return
	}
	w.state.onRead(onTake)
	w.mu.Unlock()
	err := w.watchAndRead(w.ctx, nil)
	switch {
	case err == nil:
		w.endFaultIfCurrent()
	case w.ctx.Err() != nil:
		w.stop(fmt.Errorf("etcd: %s: %w", w.target, context.Cause(w.ctx)))
	case errors.Is(err, errFinal):
		w.stop(err)
	default:
		w.mu.Lock()
		w.state.onRead(onGiveUp)
		w.mu.Unlock()
		w.failed(err)
	}
}

// failed records that the watch or a read failed, and queues a resync after a pause. A denial is a
// fault at once; any other error is one only if reads fail for longer than the request
// time-out, because most end sooner.
func (w *watcher) failed(err error) {
	r := w.registry
	denied := errors.Is(err, coord.ErrDenied)
	r.log.Debug("cannot follow a part of the store; it will be read again", zap.Stringer("what", w.target), zap.Error(err))
	first, most := 20*time.Millisecond, time.Second
	if denied {
		first, most = 500*time.Millisecond, 5*time.Second
	}
	w.mu.Lock()
	if w.steadyLocked() {
		w.failures = 0
	}
	if w.failingSince.IsZero() {
		w.failingSince = time.Now()
	}
	since := w.failingSince
	long := time.Since(since) > r.config.RequestTimeout
	pause := min(first<<min(w.failures, 10), most)
	w.failures++
	w.queueResyncLocked(sleep.Jitter(pause))
	w.mu.Unlock()
	if denied || long {
		w.setFault(err, since)
	}
}

// steadyLocked reports whether the range was read some time ago, so that a failure now is not one
// of many in a row.
func (w *watcher) steadyLocked() bool {
	return w.failingSince.IsZero() && time.Since(w.readAt) > time.Second
}

// restored drops what is known about a store that was restored from a backup or replaced, and
// queues a resync.
func (w *watcher) restored() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.invalidateLocked()
	w.applied, w.from, w.recoverAt, w.cleared = 0, 0, 0, w.suspicions
	w.queueResyncLocked(0)
}

// markSuspect requires a resync before the range counts as current, because the store may have been
// restored.
func (w *watcher) markSuspect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suspicions++
}

func (w *watcher) isSuspect() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.suspicions != w.cleared
}

// resyncIfSuspect queues a resync at once if the watcher is suspect.
func (w *watcher) resyncIfSuspect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.suspicions != w.cleared && w.openedLocked() {
		w.queueResyncLocked(0)
	}
}

// openedLocked reports whether the range was read once.
func (w *watcher) openedLocked() bool { return !w.readAt.IsZero() }
