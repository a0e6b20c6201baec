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
)

// watches holds all followers of a registry, the one stream that carries their watches, and
// the few goroutines that read again what must be read again.
type watches struct {
	registry *Registry
	client   pb.WatchClient
	patience time.Duration // the request time-out
	failing  atomic.Int32  // streams in a row that were left because one of their watches was stuck

	// reads bounds the first reads at any time.
	reads chan struct{}

	mu     sync.Mutex
	live   map[*follower]struct{}
	stream *watchStream // nil before the first, and after the last
	closed bool
	// moved is closed when the stream has progressed, or was replaced; nil if nobody waits.
	moved chan struct{}
	// again are followers to be read again, and readers the goroutines that do that.
	again   []*follower
	readers int
	// faulty are the followers that have a fault. logged is when the log said so last.
	// logEnd: it is also to say when the last fault ends.
	faulty map[*follower]struct{}
	logged time.Time
	logEnd bool
}

const (
	firstReads = 32 // of new views, at any time
	readers    = 16 // of what is read again, at any time
)

func newWatches(r *Registry) *watches {
	return &watches{
		registry: r,
		client:   pb.NewWatchClient(r.client.ActiveConnection()),
		patience: r.config.RequestTimeout,
		reads:    make(chan struct{}, firstReads),
		live:     make(map[*follower]struct{}),
		faulty:   make(map[*follower]struct{}),
	}
}

// stuck is how long a stream may bring no progress although it lives. It grows with each
// stream that was left for that: a store that is too slow is not helped by new streams.
func (w *watches) stuck() time.Duration {
	return w.patience << min(1+w.failing.Load(), 5)
}

// run keeps a stream open until Close. Then it ends all followers.
func (w *watches) run() {
	r := w.registry
	defer w.close()
	retry, denied := newRetry(), newRetryBetween(500*time.Millisecond, 5*time.Second)
	var since time.Time // streams fail since then
	for {
		began := time.Now()
		s := w.open()
		err := s.serve(w.client)
		if r.ctx.Err() != nil {
			return
		}
		if s.works() && time.Since(began) > retry.max {
			retry.reset()
			denied.reset()
			since = time.Time{}
		}
		if since.IsZero() {
			since = time.Now()
		}
		r.log.Debug("the watch stream ended; another one follows", zap.Error(err))
		refused := false
		switch {
		case errors.Is(err, errRestored):
			retry.reset()
		case errors.Is(err, errSilent), errors.Is(err, errBehind):
			if errors.Is(err, errBehind) {
				w.failing.Add(1)
			}
			w.each(func(f *follower) { f.stuck(s, err) })
		case refusedToken(err) && time.Since(since) <= w.patience:
			// A new stream logs in again. A member that lags behind does not know the new token
			// at once, if another member has handled the log-in.
		case kindOf(err) == coord.ErrDenied:
			refused = true
			err = convertError(r.ctx, err, "watch")
			w.each(func(f *follower) { f.barred(err, since) })
		case time.Since(since) > w.patience:
			err = convertError(r.ctx, err, "watch")
			w.each(func(f *follower) { f.barred(err, since) })
		}
		if refused {
			denied.wait(r.ctx)
		} else {
			retry.wait(r.ctx)
		}
	}
}

// open replaces the stream by a new one, and moves all watches there.
func (w *watches) open() *watchStream {
	r := w.registry
	s := newWatchStream(r.ctx, w, r.sighting.now().epoch)
	w.mu.Lock()
	w.stream = s
	w.wakeLocked()
	w.mu.Unlock()
	w.each(func(f *follower) { f.move(s) })
	s.tookOver()
	w.mu.Lock()
	expected := len(w.faulty) > 0 || w.moved != nil
	w.mu.Unlock()
	if expected {
		r.lookAfterWatches()
	}
	return s
}

func (w *watches) close() {
	w.mu.Lock()
	w.closed, w.stream = true, nil
	w.wakeLocked()
	w.mu.Unlock()
	w.each(func(f *follower) { f.stop(fmt.Errorf("etcd: %s: %w", f.what(), context.Cause(w.registry.ctx))) })
}

func (w *watches) each(do func(*follower)) {
	for _, f := range w.all() {
		do(f)
	}
}

// all returns the followers at this moment.
func (w *watches) all() []*follower {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.live))
}

// add takes a follower in. It reports false after Close.
func (w *watches) add(f *follower) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.live[f] = struct{}{}
	return true
}

func (w *watches) remove(f *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.live, f)
}

// current is the stream of the moment; nil if there is none.
func (w *watches) current() *watchStream {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream
}

// leave has all watches moved to another stream.
func (w *watches) leave(reason error) {
	if s := w.current(); s != nil {
		s.leave(reason)
	}
}

// waitForMove returns a channel that is closed when the stream has progressed or was replaced.
func (w *watches) waitForMove() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moved == nil {
		w.moved = make(chan struct{})
	}
	return w.moved
}

func (w *watches) wakeLocked() {
	if w.moved != nil {
		close(w.moved)
		w.moved = nil
	}
}

// progressed tells all who care that everything up to a revision has come on a stream: those
// who wait, and those whose fault may be over.
func (w *watches) progressed(s *watchStream, revision int64) {
	w.failing.Store(0)
	w.registry.sighting.reached(revision, s.epoch)
	w.mu.Lock()
	w.wakeLocked()
	faulty := slices.Collect(maps.Keys(w.faulty))
	w.mu.Unlock()
	for _, f := range faulty {
		f.recover()
	}
}

// lookAfterWatches is called after each keep-alive. If the store is known to have a newer
// revision than the stream has brought, the stream is asked for its progress: then it shows
// whether it lives. While the store's revision does not change nothing is sent.
func (r *Registry) lookAfterWatches() {
	known := r.sighting.now()
	if s := r.watches.current(); s != nil && s.epoch == known.epoch {
		s.want(known.revision)
	}
}

// outageBegun gives everything that is followed a fault: the store does not answer.
func (r *Registry) outageBegun(outage int, since time.Time) {
	r.watches.each(func(f *follower) { f.unanswered(outage, since) })
}

// outageOver is called when the store has answered after an outage. Its newest revision tells when
// everything that is followed has caught up.
func (r *Registry) outageOver(outage int) {
	r.start(func() {
		for retry := newRetry(); ; {
			newest, err := r.head(r.ctx, "look what an outage has hidden")
			if err == nil {
				err = r.verify(r.ctx)
			}
			if err == nil || errors.Is(err, coord.ErrDenied) { // then each view has that fault
				revision := int64(0)
				if newest != nil {
					revision = newest.Header.GetRevision()
				}
				r.watches.each(func(f *follower) { f.catchUp(outage, revision) })
				r.lookAfterWatches()
				return
			}
			if !retry.wait(r.ctx) {
				return
			}
		}
	})
}

// readAgain has a follower read again as soon as a reader is free.
func (w *watches) readAgain(f *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.again = append(w.again, f)
	if w.readers < readers && w.registry.start(w.read) {
		w.readers++
	}
}

// read is a reader: it reads what is to be read again until there is nothing left.
func (w *watches) read() {
	for {
		w.mu.Lock()
		if len(w.again) == 0 || w.closed {
			w.readers--
			w.mu.Unlock()
			return
		}
		f := w.again[0]
		w.again = dropFirst(w.again)
		w.mu.Unlock()
		f.readAgain()
	}
}

// countFault counts the followers that have a fault. Thousands may get one at the same
// moment, so the log gets one line for the first of them, and one when the last has ended;
// and no such pair more often than once a minute. An outage is none of these: the session's lines
// tell of it.
func (w *watches) countFault(f *follower, fault *coord.StaleError) {
	const quiet = time.Minute
	w.mu.Lock()
	defer w.mu.Unlock()
	if fault == nil {
		delete(w.faulty, f)
		if len(w.faulty) == 0 && w.logEnd {
			w.logEnd = false
			w.registry.log.Info("changes in the store are followed again", zap.String("last", f.what()))
		}
		return
	}
	w.faulty[f] = struct{}{}
	if len(w.faulty) == 1 && f.outage == 0 && time.Since(w.logged) > quiet {
		w.logged, w.logEnd = time.Now(), true
		w.registry.log.Warn("changes in the store cannot be followed at present, so views may be old", zap.String("first", f.what()), zap.Error(fault))
	}
}
