package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// watchers holds all watchers of a registry, the one stream that carries their watches, and
// the resync workers.
type watchers struct {
	registry     *Registry
	client       pb.WatchClient
	patience     time.Duration // the request time-out
	stuckStreams atomic.Int32  // streams in a row that were replaced because one of their watches was stuck at the server

	// openings bounds how many watchers read their range for the first time at once.
	openings chan struct{}

	mu         sync.Mutex
	live       map[*watcher]struct{}
	stream     *watchStream // nil before the first, and after the last
	closed     bool
	progressed broadcast.Signal      // the stream has progressed, or was replaced
	resyncs    []*watcher            // watchers to resync
	workers    int                   // how many resync workers run
	faulty     map[*watcher]struct{} // the watchers that have a fault
	logged     time.Time             // when a line was logged about the first fault
	logEnd     bool                  // a line is to be logged about the end of the last fault
}

const (
	maxOpenings = 32
	maxWorkers  = 16
)

func newWatchers(r *Registry) *watchers {
	return &watchers{
		registry: r,
		client:   pb.NewWatchClient(r.client.ActiveConnection()),
		patience: r.config.RequestTimeout,
		openings: make(chan struct{}, maxOpenings),
		live:     make(map[*watcher]struct{}),
		faulty:   make(map[*watcher]struct{}),
	}
}

// progressTimeout is how long a stream that delivers answers may make no progress. It doubles with each
// stream that was replaced for that, because new streams do not help a store that is too slow.
func (ws *watchers) progressTimeout() time.Duration {
	return ws.patience << min(1+ws.stuckStreams.Load(), 5)
}

// run keeps a stream open until Close. Then it stops all watchers.
func (ws *watchers) run() {
	r := ws.registry
	defer ws.close()
	backoff, denied := newBackoff(), &sleep.Backoff{Min: 500 * time.Millisecond, Max: 5 * time.Second}
	var since time.Time // streams fail since then
	for {
		began := time.Now()
		s := ws.openStream()
		err := s.serve(ws.client)
		if r.ctx.Err() != nil {
			return
		}
		if s.hasAnswered() && time.Since(began) > maxBackoff {
			backoff.Reset()
			denied.Reset()
			since = time.Time{}
		}
		if since.IsZero() {
			since = time.Now()
		}
		r.log.Debug("the watch stream ended; another one follows", zap.Error(err))
		refused := false
		switch {
		case errors.Is(err, lifetime.ErrRestored):
			backoff.Reset()
		case errors.Is(err, errSilent), errors.Is(err, errBehind):
			if errors.Is(err, errBehind) {
				ws.stuckStreams.Add(1)
			}
			ws.each(func(w *watcher) { w.streamAbandoned(s, err) })
		case refusedToken(err) && time.Since(since) <= ws.patience:
			// A new stream logs in again. A member that lags behind does not know the new token
			// at once, if another member has handled the log-in.
		case kindOf(err) == coord.ErrDenied:
			refused = true
			err = convertError(r.ctx, err, "watch")
			ws.each(func(w *watcher) { w.streamFailed(err, since) })
		case time.Since(since) > ws.patience:
			err = convertError(r.ctx, err, "watch")
			ws.each(func(w *watcher) { w.streamFailed(err, since) })
		}
		if refused {
			denied.Wait(r.ctx)
		} else {
			backoff.Wait(r.ctx)
		}
	}
}

// openStream replaces the stream with a new one, and moves all watches to it.
func (ws *watchers) openStream() *watchStream {
	r := ws.registry
	s := newWatchStream(r.ctx, ws, r.identity.now().incarnation)
	ws.mu.Lock()
	ws.stream = s
	ws.progressed.Fire()
	ws.mu.Unlock()
	ws.each(func(w *watcher) { w.moveTo(s) })
	s.allMoved()
	ws.mu.Lock()
	expected := len(ws.faulty) > 0 || ws.progressed.IsAwaited()
	ws.mu.Unlock()
	if expected {
		r.requestProgress()
	}
	return s
}

func (ws *watchers) close() {
	ws.mu.Lock()
	ws.closed, ws.stream = true, nil
	ws.progressed.Fire()
	ws.mu.Unlock()
	ws.each(func(w *watcher) { w.stop(fmt.Errorf("etcd: %s: %w", w.target, context.Cause(ws.registry.ctx))) })
}

func (ws *watchers) each(do func(*watcher)) {
	for _, w := range ws.all() {
		do(w)
	}
}

// all returns the watchers at this moment.
func (ws *watchers) all() []*watcher {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.Collect(maps.Keys(ws.live))
}

// add adds a watcher. It reports false after Close.
func (ws *watchers) add(w *watcher) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		return false
	}
	ws.live[w] = struct{}{}
	return true
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.live, w)
}

// current is the stream that is open; nil if there is none.
func (ws *watchers) current() *watchStream {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.stream
}

// replaceStream stops the stream for a reason; run opens the next one.
func (ws *watchers) replaceStream(reason error) {
	if s := ws.current(); s != nil {
		s.stop(reason)
	}
}

// awaitProgress returns a channel that is closed when the stream has progressed or was replaced.
func (ws *watchers) awaitProgress() <-chan struct{} {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.progressed.Next()
}

// handleProgress is called when every event up to a revision has arrived on a stream. It wakes those
// who wait for progress, and ends the faults of watchers that have caught up.
func (ws *watchers) handleProgress(s *watchStream, revision int64) {
	ws.stuckStreams.Store(0)
	ws.registry.identity.noteRevision(revision, s.incarnation)
	ws.mu.Lock()
	ws.progressed.Fire()
	faulty := slices.Collect(maps.Keys(ws.faulty))
	ws.mu.Unlock()
	for _, w := range faulty {
		w.endFaultIfCurrent()
	}
}

// requestProgress requests progress if the store is known to have a newer revision than the stream
// has delivered. It runs after each keep-alive, so that a dead stream is noticed. While the store's
// revision does not change nothing is sent.
func (r *Registry) requestProgress() {
	known := r.identity.now()
	if s := r.watchers.current(); s != nil && s.incarnation == known.incarnation {
		s.requestProgress(known.revision)
	}
}

// outageBegan is called when the store does not answer: all watchers get a fault.
func (r *Registry) outageBegan(outage int, since time.Time) {
	r.watchers.each(func(w *watcher) { w.outageBegan(outage, since) })
}

// outageEnded is called when the store has answered after an outage. It reads the store's newest
// revision, which each watcher must apply before its fault ends.
func (r *Registry) outageEnded(outage int) {
	r.start(func() {
		for backoff := newBackoff(); ; {
			newest, err := r.readHeader(r.ctx, "read the revision after an outage")
			if err == nil {
				err = r.verify(r.ctx)
			}
			if err == nil || errors.Is(err, coord.ErrDenied) { // a denial is a fault of each view by itself
				revision := int64(0)
				if newest != nil {
					revision = newest.Header.GetRevision()
				}
				r.watchers.each(func(w *watcher) { w.outageEnded(outage, revision) })
				r.requestProgress()
				return
			}
			if !backoff.Wait(r.ctx) {
				return
			}
		}
	})
}

// enqueue has a watcher resynced as soon as a worker is free.
func (ws *watchers) enqueue(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		return
	}
	ws.resyncs = append(ws.resyncs, w)
	if ws.workers < maxWorkers && ws.registry.start(ws.runResyncs) {
		ws.workers++
	}
}

// runResyncs is a resync worker: it resyncs watchers until none is queued.
func (ws *watchers) runResyncs() {
	for {
		ws.mu.Lock()
		if len(ws.resyncs) == 0 || ws.closed {
			ws.workers--
			ws.mu.Unlock()
			return
		}
		w := ws.resyncs[0]
		ws.resyncs = dropFirst(ws.resyncs)
		ws.mu.Unlock()
		w.resync()
	}
}

// countFault records that a watcher's fault has begun or ended. Thousands may begin at the same
// moment. So one line is logged when the first one begins and one when the last one ends, at most
// once a minute. Outages are not logged here, because the session logs them.
func (ws *watchers) countFault(w *watcher, fault *coord.StaleError) {
	const quiet = time.Minute
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if fault == nil {
		delete(ws.faulty, w)
		if len(ws.faulty) == 0 && ws.logEnd {
			ws.logEnd = false
			ws.registry.log.Info("changes in the store are followed again", zap.Stringer("last", w.target))
		}
		return
	}
	ws.faulty[w] = struct{}{}
	if len(ws.faulty) == 1 && w.outage == 0 && time.Since(ws.logged) > quiet {
		ws.logged, ws.logEnd = time.Now(), true
		ws.registry.log.Warn("changes in the store cannot be followed at present, so views may be old", zap.Stringer("first", w.target), zap.Error(fault))
	}
}
