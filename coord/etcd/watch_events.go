package etcd

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// The watch stream calls created, cancelled and deliver with itself and the id of the watch. A
// watcher ignores what comes from a stream or a watch that it has left.

// requestLocked requests the watch on a stream, from a revision, 0 for now. If the stream has just
// ended, the next stream requests it.
func (w *watcher) requestLocked(s *watchStream, from int64) {
	if id := s.requestWatch(w, from); id != 0 {
		w.stream, w.watchID = s, id
		w.state.onWatch(onRequest)
	}
}

// dropWatchLocked cancels the watch, if there is one.
func (w *watcher) dropWatchLocked() {
	if w.stream != nil {
		w.stream.cancelWatch(w.watchID)
	}
	w.stream, w.watchID = nil, 0
}

// answerReaderLocked ends the wait of the reader that waits for a watch, if there is one.
func (w *watcher) answerReaderLocked(err error) {
	if w.confirmation != nil {
		w.confirmation <- err
		w.confirmation = nil
	}
}

// moveTo re-creates the watch on the next stream, from where it was. If there was none yet and a
// reader waits for it, it requests a new one.
func (w *watcher) moveTo(s *watchStream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.ended() || w.stream == s {
		return
	}
	w.recordProgressLocked()
	w.stream, w.watchID = nil, 0
	w.state.onWatch(onMove)
	switch {
	case w.state.covered():
		w.requestLocked(s, w.from)
	case w.confirmation != nil:
		w.requestLocked(s, 0)
	}
}

// created handles the confirmation of the watch. For a watch from now on the revision is that of the
// store at that moment, or a later one.
func (w *watcher) created(s *watchStream, id, revision int64) {
	w.mu.Lock()
	if w.state.ended() || w.stream != s || w.watchID != id {
		w.mu.Unlock()
		return
	}
	if !w.state.covered() {
		w.from = revision
	}
	w.state.onWatch(onConfirm)
	w.incarnation = s.incarnation
	w.answerReaderLocked(nil)
	w.mu.Unlock()
	w.endFaultIfCurrent()
}

// cancelled handles the refusal of the watch, or its end by the store.
func (w *watcher) cancelled(s *watchStream, id int64, reason error) {
	err := convertError(w.ctx, reason, w.target.String())
	w.mu.Lock()
	if w.state.ended() || w.stream != s || w.watchID != id {
		w.mu.Unlock()
		return
	}
	w.invalidateLocked()
	compacted := errors.Is(err, errCompacted)
	if compacted {
		err = fmt.Errorf("etcd: %s: %w", w.target, errWatchEnded)
	}
	handled := true
	switch {
	case w.confirmation != nil:
		w.answerReaderLocked(err)
	case w.state.read == readLoading: // endLoad sees it
	case compacted && w.steadyLocked():
		w.queueResyncLocked(0)
	default:
		handled = false
	}
	w.mu.Unlock()
	if !handled {
		w.failed(err)
	}
}

// invalidateLocked drops the watch and its buffered events, because events were missed or will be. A
// resync has to follow.
func (w *watcher) invalidateLocked() {
	w.applied = w.positionLocked()
	w.state.onWatch(onInvalidate)
	w.dropWatchLocked()
	w.buffer, w.buffered = nil, 0
}

// deliver applies events of the watch, or buffers them until the range has been read.
func (w *watcher) deliver(s *watchStream, id int64, events []*mvccpb.Event) {
	w.mu.Lock()
	if w.state.ended() || w.stream != s || w.watchID != id {
		w.mu.Unlock()
		return
	}
	if !w.state.current() {
		w.bufferLocked(events)
		w.mu.Unlock()
		return
	}
	err := w.applyLocked(events)
	faulty := w.fault != nil
	w.mu.Unlock()
	switch {
	case err != nil:
		w.stop(err)
	case faulty:
		w.endFaultIfCurrent()
	}
}

func (w *watcher) bufferLocked(events []*mvccpb.Event) {
	for _, event := range events {
		w.buffered += 1 + len(event.Kv.Value)>>10
	}
	if w.buffered <= maxBuffered {
		w.buffer = append(w.buffer, events)
	} else {
		w.buffer = nil // endLoad sees it
	}
}

// applyBufferLocked applies the events that were buffered.
func (w *watcher) applyBufferLocked() error {
	buffer := w.buffer
	w.buffer, w.buffered = nil, 0
	for _, events := range buffer {
		if err := w.applyLocked(events); err != nil {
			return err
		}
	}
	return nil
}

// applyLocked applies events that are not applied yet. These are whole revisions: the server
// never divides one between two answers.
func (w *watcher) applyLocked(events []*mvccpb.Event) error {
	for len(events) > 0 && events[0].Kv.ModRevision <= w.applied {
		events = events[1:]
	}
	if len(events) == 0 {
		return nil
	}
	if err := w.target.apply(events); err != nil {
		return err
	}
	w.applied = events[len(events)-1].Kv.ModRevision
	w.from = max(w.from, w.applied)
	w.registry.identity.noteRevision(w.applied, w.incarnation)
	w.advanced.Fire()
	return nil
}
