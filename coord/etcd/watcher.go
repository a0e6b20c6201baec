package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
)

// watcher keeps a target equal to a range of keys. It first creates a watch and then reads the range,
// so that no event is missed in between; then it applies the events that are later than the
// revision of the read. Events that arrive before the range is read are buffered.
//
// When the watch stream breaks, the watch is re-created on the next stream from the revision up to
// which every event has arrived, so the range need not be read again. A resync, which reads it
// again, follows when events were missed: the watch was cancelled, as it is when the store has
// compacted that revision, or more events arrived than can be buffered. A resync also follows when
// the store was restored from a backup, or may have been, and when a Sync waits for long.
//
// A watcher has no goroutine of its own. The watch stream's goroutine delivers events; reads run
// on the caller's goroutine or on one of the registry's resync workers.
type watcher struct {
	registry *Registry
	target   target
	ctx      context.Context // bounds every request for the watcher
	keys     keyRange

	mu    sync.Mutex // guards all below
	state lifecycle
	// stream carries the watch, under this id. It is nil, and the id 0, while no watch is requested.
	stream      *watchStream
	watchID     int64
	incarnation int64 // of the store, when the stream that confirmed the watch began
	// confirmation gets the answer to the request for a watch; nil if no reader waits for it.
	confirmation chan error
	applied      int64             // every event up to this revision is applied
	from         int64             // the revision from which the watch is re-created
	buffer       [][]*mvccpb.Event // events that arrived before the range was read
	buffered     int               // how much these count; more than maxBuffered are dropped
	advanced     broadcast.Signal  // applied has grown, or the range was read
	readAt       time.Time         // when the range was read last; zero before the first time
	// suspicions counts new connections and leader elections. After either one the store may have been
	// restored from a backup, so the range must be read again before it counts as current.
	suspicions uint32
	cleared    uint32 // suspicions as of the last read

	failures     uint8     // resyncs in a row that failed
	failingSince time.Time // zero if the last read succeeded
	fault        *coord.StaleError
	recoverAt    int64 // a revision of the store that must be applied before the fault ends
	outage       int   // the number of an outage after which the watcher has not caught up yet; 0 for none
}

// target is what a watcher keeps equal to a range.
type target interface {
	// String names the target in errors and the log.
	String() string
	// load reads the range, and returns the revision at which it was read. trusted is the
	// revision up to which every event was applied, if the store may have been restored
	// since; otherwise it is 0. No events are applied meanwhile.
	load(ctx context.Context, trusted int64) (int64, error)
	// apply gets the events of whole revisions, in order, all later than the one that load returned.
	apply(events []*mvccpb.Event) error
	// faultChanged is called after Fault has changed.
	faultChanged()
	// ended is called once, when the watcher has ended.
	ended(err error)
}

var (
	// errFinal ends the watcher whose target's load or apply returns it.
	errFinal = errors.New("final")
	// errWatchEnded: the watch has ended while the range was read.
	errWatchEnded = fmt.Errorf("%w: the watch ended", coord.ErrUnavailable)
	errOverflow   = fmt.Errorf("%w: more events arrive than can be buffered during a read", coord.ErrUnavailable)
)

// maxBuffered bounds the events that a watcher buffers until the range is read. One counts once more for each KiB of its value.
const maxBuffered = 100_000

func newWatcher(ctx context.Context, r *Registry, keys keyRange, t target) *watcher {
	return &watcher{registry: r, target: t, ctx: ctx, keys: keys}
}

// open reads the range for the first time. If that fails the watcher has ended.
func (w *watcher) open(ctx context.Context) error {
	r := w.registry
	w.state.onRead(onTake)
	if !r.watchers.add(w) {
		return fmt.Errorf("etcd: %s: %w", w.target, coord.ErrClosed)
	}
	for backoff := newBackoff(); ; {
		err := w.watchAndRead(ctx, r.watchers.openings)
		if err == nil {
			return nil
		}
		if again := errors.Is(err, coord.ErrRestored) || errors.Is(err, errWatchEnded); ctx.Err() != nil || w.ctx.Err() != nil || !again || !backoff.Wait(ctx) {
			w.stop(err)
			return err
		}
	}
}

// openInBackground has a resync worker read the range for the first time, until that succeeds. It
// reports false after Close.
func (w *watcher) openInBackground() bool {
	if !w.registry.watchers.add(w) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queueResyncLocked(0)
	return true
}

// stop ends the watcher, unless it has ended.
func (w *watcher) stop(err error) {
	w.mu.Lock()
	if w.state.ended() {
		w.mu.Unlock()
		return
	}
	w.state.onWatch(onStop)
	w.dropWatchLocked()
	w.buffer = nil
	w.answerReaderLocked(err)
	w.advanced.Fire()
	w.mu.Unlock()
	w.registry.watchers.remove(w)
	w.setFault(nil, time.Time{})
	w.target.ended(err)
}

// position is the revision up to which every event is applied.
func (w *watcher) position() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.positionLocked()
}

// positionLocked is the last revision that was applied, or a later one that the stream's progress
// names: then no earlier event is still to be delivered. That counts only while events are applied
// as they are delivered.
func (w *watcher) positionLocked() int64 {
	if w.state.watch == watchLive && w.state.current() {
		return max(w.applied, w.stream.progress.Load())
	}
	return w.applied
}

// recordProgressLocked records the stream's progress, before the watch or the reading changes.
func (w *watcher) recordProgressLocked() {
	w.applied = w.positionLocked()
	w.from = max(w.from, w.applied)
	if w.state.watch == watchLive {
		w.from = max(w.from, w.stream.progress.Load())
	}
}

// awaitRevision waits until every event up to a revision is applied. Usually an event with that
// revision has arrived, or arrives at once. Otherwise progress is requested from the store. The store
// does not answer while one of the stream's watches lags behind, so after a while the range is read
// again; at once, if the store may have been restored from a backup.
func (w *watcher) awaitRevision(ctx context.Context, revision int64) error {
	w.resyncIfSuspect()
	if reached, err := w.awaitRevisionFor(ctx, revision, time.Millisecond); reached || err != nil {
		return err
	}
	// Each round asks again: the stream may have been replaced, or a resync may have begun to read
	// before this call.
	const round = 250 * time.Millisecond
	for end := time.Now().Add(w.registry.config.RequestTimeout); ; {
		w.registry.requestProgress()
		if reached, err := w.awaitRevisionFor(ctx, revision, round); reached || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: it does not reach revision %d", cmp.Or(w.Fault(), errBehind), revision)
		}
		w.mu.Lock()
		w.queueResyncLocked(0)
		w.mu.Unlock()
	}
}

// awaitRevisionFor is awaitRevision for at most the time patience, without requests. It reports whether
// the revision is applied.
func (w *watcher) awaitRevisionFor(ctx context.Context, revision int64, patience time.Duration) (bool, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		progressed := w.registry.watchers.awaitProgress()
		w.mu.Lock()
		reached := w.positionLocked() >= revision && w.suspicions == w.cleared
		advanced := w.advanced.Next()
		w.mu.Unlock()
		if reached {
			return true, nil
		}
		select {
		case <-progressed:
		case <-advanced:
		case <-timer.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
