package etcd

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// Fault is what [coord.View.Fault] returns for a view.
func (w *watcher) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == nil {
		return nil
	}
	return w.fault
}

// streamFailed is called when no stream could be opened since a time.
func (w *watcher) streamFailed(err error, since time.Time) {
	w.mu.Lock()
	w.answerReaderLocked(err)
	opened := w.openedLocked()
	w.mu.Unlock()
	if opened {
		w.setFault(err, since)
	}
}

// streamAbandoned is called when a stream was replaced because it was silent, or one of its watches
// was stuck. A watcher whose watch lagged behind has a fault until it catches up.
func (w *watcher) streamAbandoned(s *watchStream, reason error) {
	w.mu.Lock()
	w.answerReaderLocked(fmt.Errorf("etcd: %s: %w", w.target, reason))
	goal, since := s.wantedProgress()
	behind := w.openedLocked() && w.stream == s && w.positionLocked() < goal
	if behind {
		w.recoverAt = max(w.recoverAt, goal)
	}
	w.mu.Unlock()
	if behind {
		w.setFault(fmt.Errorf("etcd: %s: %w", w.target, errBehind), since)
	}
}

// outageBegan gives the watcher the fault that the store has not answered since a time.
func (w *watcher) outageBegan(outage int, since time.Time) {
	w.mu.Lock()
	opened := w.openedLocked()
	w.outage = outage
	w.mu.Unlock()
	if opened {
		w.setFault(fmt.Errorf("etcd: %s: %w: it does not answer", w.target, coord.ErrUnavailable), since)
	}
}

// outageEnded is called after the first answer after an outage. The fault ends when the revision that
// the store had then is applied.
func (w *watcher) outageEnded(outage int, revision int64) {
	w.mu.Lock()
	if w.outage == 0 || w.outage > outage {
		w.mu.Unlock()
		return
	}
	w.outage = 0
	w.recoverAt = max(w.recoverAt, revision)
	w.mu.Unlock()
	w.endFaultIfCurrent()
}

// endFaultIfCurrent ends the fault if the range is followed again.
func (w *watcher) endFaultIfCurrent() {
	w.mu.Lock()
	recovered := w.fault != nil && w.outage == 0 &&
		w.state.watch == watchLive && w.state.read == readIdle && w.state.complete && w.positionLocked() >= w.recoverAt
	w.mu.Unlock()
	if recovered {
		w.setFault(nil, time.Time{})
	}
}

// setFault sets the fault, which began at the time since; a nil reason clears it. If it replaces a
// fault, the earlier of the two times counts.
func (w *watcher) setFault(reason error, since time.Time) {
	w.mu.Lock()
	before := w.fault
	w.fault = nil
	if reason != nil && !w.state.ended() {
		w.fault = &coord.StaleError{Since: wall(since), Err: reason}
		if before != nil && before.Since.Before(w.fault.Since) {
			w.fault.Since = before.Since
		}
	}
	fault := w.fault
	began, ended := before == nil && fault != nil, before != nil && fault == nil
	if began || ended {
		w.registry.watchers.countFault(w, w.fault)
	}
	w.mu.Unlock()
	another := before != nil && fault != nil && errors.Is(before, coord.ErrDenied) != errors.Is(fault, coord.ErrDenied)
	if began || ended || another {
		w.target.faultChanged()
	}
}

// wall converts a time to the time of day, by its monotonic reading if it has one.
func wall(t time.Time) time.Time { return clocks.Wall().Add(-time.Since(t)) }
