package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// follower keeps something equal to a range of keys: it reads the range once, and applies
// what a watch brings. It reads again when it cannot rely on that: the watch fell behind the
// store's compaction or was refused, the store was put back or may have been, or a Sync waits
// for long.
//
// The watch begins first, and the range is read after that. So nothing is missed in between:
// what the watch brings before that is kept, and applied after it. When the stream
// breaks the watch is asked for again, from the revision up to which everything has come. So
// the range need not be read again for that.
//
// No goroutine belongs to a follower. The goroutine of the stream brings events; the caller,
// or one of the registry's few readers, reads.
type follower struct {
	registry *Registry
	target   target
	ctx      context.Context // bounds what is done for the follower
	keys     keyRange
	// endOnDenial ends the follower if it is denied.
	endOnDenial bool

	mu       sync.Mutex
	stopped  bool
	opened   bool // the range was read once
	reading  bool // somebody reads, or waits for the watch to read then
	loading  bool // the range is being read, so what the watch brings is kept
	waiting  bool // it is to be read again: the timer or a reader will do that
	live     bool // the watch is confirmed on the stream
	covered  bool // the watch brings everything from the revision from on, or will when it has moved to the next stream
	whole    bool // the range was read since it is covered, so nothing is missing
	tries    uint8
	checked  uint32 // doubted when the range was read last
	doubted  uint32 // how often there was a new connection or an election: then the store may have been put back, and the range has to be read again before it counts
	applied  int64  // everything up to this revision is applied
	from     int64
	expected int64             // a revision that the store is known to have
	stream   *watchStream      // that carries the watch
	watch    int64             // its id; 0 for none
	epoch    int64             // of the store, when that stream began
	answer   chan error        // gets the answer to the request for a watch, if somebody waits for that
	early    [][]*mvccpb.Event // what the watch has brought before the range was read
	kept     int               // how many events these are
	moved    chan struct{}     // closed when applied grows, or the range was read; nil if nobody waits
	since    time.Time         // the range was read then
	failing  time.Time         // attempts fail since then; zero if the last one has read the range
	fault    *coord.StaleError
	outage   int // the number of an outage after which it has not caught up yet; 0 for none
}

// target is what a follower keeps equal to a range.
type target interface {
	// String says what it is, for errors and the log.
	String() string
	// load reads the range, and returns the revision at which it was read. trusted is a
	// revision up to which everything was applied before, if the store may have been put
	// back since; otherwise it is 0. No events are applied meanwhile.
	load(ctx context.Context, trusted int64) (int64, error)
	// apply gets whole revisions, in order, all later than the one that load returned.
	apply(events []*mvccpb.Event) error
	// faultChanged is called after Fault has changed.
	faultChanged()
	// over is called once, when the follower has ended.
	over(err error)
}

func newFollower(ctx context.Context, r *Registry, keys keyRange, t target) *follower {
	return &follower{registry: r, target: t, ctx: ctx, keys: keys}
}

var (
	// errFinal marks what ends a follower, if load or apply returns it.
	errFinal = errors.New("final")
	// errUncovered: the watch has ended while the range was read.
	errUncovered = fmt.Errorf("%w: the watch ended", coord.ErrUnavailable)
	errTooMuch   = fmt.Errorf("%w: there is more news than can be kept while it is read", coord.ErrUnavailable)
)

// mostKept is how many events are kept until the range is read.
const mostKept = 100_000

func (f *follower) what() string { return f.target.String() }

// open reads the range for the first time. If that fails the follower has ended.
func (f *follower) open(ctx context.Context) error {
	r := f.registry
	f.reading = true
	if !r.watches.add(f) {
		return fmt.Errorf("etcd: %s: %w", f.what(), coord.ErrClosed)
	}
	for retry := newRetry(); ; {
		err := f.attempt(ctx, r.watches.reads)
		if err == nil {
			return nil
		}
		if again := errors.Is(err, coord.ErrRestored) || errors.Is(err, errUncovered); ctx.Err() != nil || f.ctx.Err() != nil || !again || !retry.wait(ctx) {
			f.stop(err)
			return err
		}
	}
}

// begin has the range read by one of the registry's readers, now and whenever that fails.
func (f *follower) begin() bool {
	if !f.registry.watches.add(f) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queueLocked(0)
	return true
}

// stop ends the follower, unless it has ended.
func (f *follower) stop(err error) {
	f.mu.Lock()
	if f.stopped {
		f.mu.Unlock()
		return
	}
	f.stopped = true
	f.dropLocked()
	f.early = nil
	f.answerLocked(err)
	f.wakeLocked()
	f.mu.Unlock()
	f.registry.watches.remove(f)
	f.setFault(nil, time.Time{})
	f.target.over(err)
}

func (f *follower) dropLocked() {
	if f.stream != nil {
		f.stream.drop(f.watch)
	}
	f.stream, f.watch, f.live = nil, 0, false
}

func (f *follower) answerLocked(err error) {
	if f.answer != nil {
		f.answer <- err
		f.answer = nil
	}
}

// requestLocked asks for a watch.
func (f *follower) requestLocked(s *watchStream, from int64) {
	if f.stopped || f.stream == s {
		return
	}
	f.live = false
	if f.watch = s.request(f, from); f.watch == 0 {
		f.stream = nil // it ends just now, and the next one will be asked
		return
	}
	f.stream = s
}

// move asks for the watch on another stream, if there was one or somebody waits for one.
func (f *follower) move(s *watchStream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped || f.stream == s {
		return
	}
	f.settleLocked()
	f.stream, f.watch, f.live = nil, 0, false
	switch {
	case f.covered:
		f.requestLocked(s, f.from)
	case f.answer != nil:
		f.requestLocked(s, 0)
	}
}

// settleLocked takes over what the progress of the stream says.
func (f *follower) settleLocked() {
	f.applied = f.positionLocked()
	f.from = max(f.from, f.applied)
	if f.live && f.covered {
		f.from = max(f.from, f.stream.progress.Load())
	}
}

// positionLocked is the revision up to which everything is applied.
func (f *follower) positionLocked() int64 {
	if f.live && f.whole && !f.loading {
		return max(f.applied, f.stream.progress.Load())
	}
	return f.applied
}

func (f *follower) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.positionLocked()
}

// attempt waits for the watch if there is none, and then reads the range. gate, unless it is
// nil, bounds how many read at a time.
func (f *follower) attempt(ctx context.Context, gate chan struct{}) error {
	epoch := f.registry.sighting.now().epoch
	if err := f.awaitWatch(ctx); err != nil {
		return err
	}
	if gate != nil {
		select {
		case gate <- struct{}{}:
			defer func() { <-gate }()
		case <-ctx.Done():
			return fmt.Errorf("etcd: %s: %w", f.what(), context.Cause(ctx))
		}
	}
	trusted, doubted := f.beginLoad()
	revision, err := f.target.load(ctx, trusted)
	return f.endLoad(revision, err, epoch, doubted)
}

// awaitWatch returns when there is a watch, or will be one that misses nothing.
func (f *follower) awaitWatch(ctx context.Context) error {
	f.mu.Lock()
	if f.covered || f.stopped {
		f.mu.Unlock()
		return nil
	}
	answer := make(chan error, 1)
	f.answer = answer
	if f.stream == nil {
		if s := f.registry.watches.current(); s != nil {
			f.requestLocked(s, 0)
		}
	}
	f.mu.Unlock()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answer = nil
		return fmt.Errorf("etcd: %s: %w", f.what(), context.Cause(ctx))
	}
}

func (f *follower) beginLoad() (trusted int64, doubted uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settleLocked()
	f.loading = true
	if f.doubted != f.checked {
		trusted = f.applied
	}
	return trusted, f.doubted
}

// endLoad notes that the range was read, and applies what the watch has brought meanwhile. It
// returns an error if what was read does not count.
func (f *follower) endLoad(revision int64, err error, epoch int64, doubted uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loading = false
	if f.stopped {
		return fmt.Errorf("etcd: %s: %w", f.what(), coord.ErrClosed)
	}
	if f.kept > mostKept { // they are lost
		err = cmp.Or(err, fmt.Errorf("etcd: %s: %w", f.what(), errTooMuch))
		f.uncoverLocked()
	}
	switch {
	case err == nil && f.registry.sighting.now().epoch != epoch:
		err = fmt.Errorf("etcd: %s: %w", f.what(), coord.ErrRestored)
		f.uncoverLocked()
	case err == nil && !f.covered:
		err = fmt.Errorf("etcd: %s: %w", f.what(), errUncovered)
	}
	if err == nil {
		f.opened, f.whole, f.reading, f.checked = true, true, false, doubted
		f.applied = max(f.applied, revision)
		f.from = max(f.from, f.applied)
		f.failing, f.since = time.Time{}, time.Now()
		f.registry.sighting.reached(revision, epoch)
	}
	if f.whole {
		early := f.early
		f.early, f.kept = nil, 0
		for _, events := range early {
			if problem := f.applyLocked(events); problem != nil {
				return problem
			}
		}
	}
	if err == nil {
		f.wakeLocked()
	}
	return err
}

// uncoverLocked notes that the watch has missed something, or will.
func (f *follower) uncoverLocked() {
	f.applied = f.positionLocked()
	f.covered, f.whole = false, false
	f.early, f.kept = nil, 0
	f.dropLocked()
}

// confirmed notes that the store has begun the watch. For one of new events the revision is
// that of the store then, or a later one.
func (f *follower) confirmed(s *watchStream, watch, revision int64) {
	f.mu.Lock()
	if f.stopped || f.stream != s || f.watch != watch {
		f.mu.Unlock()
		return
	}
	f.live, f.epoch = true, s.epoch
	if !f.covered {
		f.covered, f.from = true, revision
	}
	f.answerLocked(nil)
	f.mu.Unlock()
	f.recover()
}

// cancelled notes that the store has refused or ended the watch.
func (f *follower) cancelled(s *watchStream, watch int64, reason error) {
	err := convertError(f.ctx, reason, f.what())
	f.mu.Lock()
	if f.stopped || f.stream != s || f.watch != watch {
		f.mu.Unlock()
		return
	}
	f.uncoverLocked()
	compacted := errors.Is(err, errCompacted)
	if compacted {
		err = fmt.Errorf("etcd: %s: %w", f.what(), errUncovered)
	}
	handled := true
	switch {
	case f.answer != nil:
		f.answerLocked(err)
	case f.loading: // endLoad sees it
	case compacted && f.steadyLocked():
		f.queueLocked(0)
	default:
		handled = false
	}
	f.mu.Unlock()
	if !handled {
		f.failed(err)
	}
}

// steadyLocked reports whether the range was read some time ago: if something fails now, that
// is not one of many failures in a row.
func (f *follower) steadyLocked() bool {
	return f.failing.IsZero() && time.Since(f.since) > time.Second
}

// brought takes the events that the watch has brought.
func (f *follower) brought(s *watchStream, watch int64, events []*mvccpb.Event) {
	f.mu.Lock()
	if f.stopped || f.stream != s || f.watch != watch {
		f.mu.Unlock()
		return
	}
	if f.loading || !f.whole {
		if f.kept += len(events); f.kept <= mostKept {
			f.early = append(f.early, events)
		} else {
			f.early = nil
		}
		f.mu.Unlock()
		return
	}
	err := f.applyLocked(events)
	faulty := f.fault != nil
	f.mu.Unlock()
	switch {
	case err != nil:
		f.stop(err)
	case faulty:
		f.recover()
	}
}

// applyLocked applies events that are not applied yet. These are whole revisions: the server
// never divides one between two answers.
func (f *follower) applyLocked(events []*mvccpb.Event) error {
	for len(events) > 0 && events[0].Kv.ModRevision <= f.applied {
		events = events[1:]
	}
	if len(events) == 0 {
		return nil
	}
	if err := f.target.apply(events); err != nil {
		return err
	}
	f.applied = events[len(events)-1].Kv.ModRevision
	f.from = max(f.from, f.applied)
	f.registry.sighting.reached(f.applied, f.epoch)
	f.wakeLocked()
	return nil
}

func (f *follower) wakeLocked() {
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// queueLocked has the range read again after a pause.
func (f *follower) queueLocked(pause time.Duration) {
	if f.waiting || f.reading || f.stopped {
		return
	}
	f.waiting = true
	if pause == 0 {
		f.registry.watches.readAgain(f)
		return
	}
	time.AfterFunc(pause, func() { f.registry.watches.readAgain(f) }) // after Close that does nothing
}

// readAgain reads the range again; one of the readers calls it.
func (f *follower) readAgain() {
	f.mu.Lock()
	f.waiting = false
	if f.stopped || f.reading {
		f.mu.Unlock()
		return
	}
	f.reading = true
	f.mu.Unlock()
	err := f.attempt(f.ctx, nil)
	f.mu.Lock()
	f.reading = false
	f.mu.Unlock()
	switch {
	case err == nil:
		f.recover()
	case f.ctx.Err() != nil:
		f.stop(fmt.Errorf("etcd: %s: %w", f.what(), context.Cause(f.ctx)))
	case errors.Is(err, errFinal):
		f.stop(err)
	default:
		f.failed(err)
	}
}

// failed notes that an attempt failed, and has the next one made after a pause. A denial is a
// fault at once; any other error is one only if attempts fail for longer than the request
// time-out, because most end sooner.
func (f *follower) failed(err error) {
	r := f.registry
	denied := errors.Is(err, coord.ErrDenied)
	if denied && f.endOnDenial {
		f.stop(err)
		return
	}
	r.log.Debug("cannot follow a part of the store; it will be read again", zap.String("what", f.what()), zap.Error(err))
	first, most := 20*time.Millisecond, time.Second
	if denied {
		first, most = 500*time.Millisecond, 5*time.Second
	}
	f.mu.Lock()
	if f.steadyLocked() {
		f.tries = 0
	}
	if f.failing.IsZero() {
		f.failing = time.Now()
	}
	failing := f.failing
	long := time.Since(failing) > r.config.RequestTimeout
	pause := min(first<<min(f.tries, 10), most)
	f.tries++
	f.queueLocked(pause/2 + rand.N(pause))
	f.mu.Unlock()
	if denied || long {
		f.setFault(err, failing)
	}
}

// barred notes that there is no stream since a time: nobody can be watched.
func (f *follower) barred(err error, since time.Time) {
	f.mu.Lock()
	asks := f.answer != nil
	f.answerLocked(err)
	opened := f.opened
	f.mu.Unlock()
	if denied := errors.Is(err, coord.ErrDenied); denied && f.endOnDenial && !asks {
		f.stop(err)
	} else if opened {
		f.setFault(err, since)
	}
}

// stuck notes that a stream was left because it was silent, or one of its watches was stuck.
// For those whose watch was behind that is a fault until it has caught up.
func (f *follower) stuck(s *watchStream, reason error) {
	f.mu.Lock()
	f.answerLocked(fmt.Errorf("etcd: %s: %w", f.what(), reason))
	goal, since := s.aim()
	behind := f.opened && f.stream == s && f.positionLocked() < goal
	if behind && f.expected < goal {
		f.expected = goal
	}
	f.mu.Unlock()
	if behind {
		f.setFault(fmt.Errorf("etcd: %s: %w", f.what(), errBehind), since)
	}
}

// unanswered notes that the store has not answered since a time.
func (f *follower) unanswered(outage int, since time.Time) {
	f.mu.Lock()
	opened := f.opened
	f.outage = outage
	f.mu.Unlock()
	if opened {
		f.setFault(fmt.Errorf("etcd: %s: %w: it does not answer", f.what(), coord.ErrUnavailable), since)
	}
}

// catchUp notes that the store answers again after an outage, and has a revision: with that the
// fault is over.
func (f *follower) catchUp(outage int, revision int64) {
	f.mu.Lock()
	if f.outage == 0 || f.outage > outage {
		f.mu.Unlock()
		return
	}
	f.outage = 0
	f.expected = max(f.expected, revision)
	f.mu.Unlock()
	f.recover()
}

// forget drops what is known about a store that was put back: it is another one now. The
// range is read again.
func (f *follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.uncoverLocked()
	f.applied, f.from, f.expected, f.checked = 0, 0, 0, f.doubted
	f.queueLocked(0)
}

// markSuspect says that the range has to be read again before it counts.
func (f *follower) markSuspect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.doubted++
}

func (f *follower) suspect() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doubted != f.checked
}

// rereadIfSuspect has the range read again now if it is suspect.
func (f *follower) rereadIfSuspect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.doubted != f.checked && f.opened {
		f.queueLocked(0)
	}
}

// reach waits until everything up to a revision is applied. Mostly an event has brought that
// revision, or will at once. If not, the stream is asked for its progress. It does not answer
// while any of its watches is behind, so after some time without an answer the range is read
// again.
func (f *follower) reach(ctx context.Context, revision int64) error {
	f.rereadIfSuspect()
	if done, err := f.await(ctx, revision, time.Millisecond); done || err != nil {
		return err
	}
	// In each round the stream may be another one, and the range may be read already, but
	// since an earlier moment.
	const round = 250 * time.Millisecond
	for end := time.Now().Add(f.registry.config.RequestTimeout); ; {
		f.registry.lookAfterWatches()
		if done, err := f.await(ctx, revision, round); done || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: it does not reach revision %d", cmp.Or(f.Fault(), errBehind), revision)
		}
		f.mu.Lock()
		f.queueLocked(0)
		f.mu.Unlock()
	}
}

// await waits for at most the patience, and reports whether the revision was reached.
func (f *follower) await(ctx context.Context, revision int64, patience time.Duration) (bool, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		progress := f.registry.watches.waitForMove()
		f.mu.Lock()
		there := f.positionLocked() >= revision && f.doubted == f.checked
		if f.moved == nil {
			f.moved = make(chan struct{})
		}
		moved := f.moved
		f.mu.Unlock()
		if there {
			return true, nil
		}
		select {
		case <-progress:
		case <-moved:
		case <-timer.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// Fault returns what [coord.View.Fault] returns for a view.
func (f *follower) Fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		return nil
	}
	return f.fault
}

// recover ends the fault if everything is followed again.
func (f *follower) recover() {
	f.mu.Lock()
	whole := f.fault != nil && f.outage == 0 && f.live && f.whole && !f.reading && !f.waiting && f.positionLocked() >= f.expected
	f.mu.Unlock()
	if whole {
		f.setFault(nil, time.Time{})
	}
}

// setFault sets what is wrong, since when, or that nothing is. If something else was wrong before,
// the fault goes on from when that began.
func (f *follower) setFault(reason error, since time.Time) {
	f.mu.Lock()
	before := f.fault
	f.fault = nil
	if reason != nil && !f.stopped {
		f.fault = &coord.StaleError{Since: wall(since), Err: reason}
		if before != nil && before.Since.Before(f.fault.Since) {
			f.fault.Since = before.Since
		}
	}
	fault := f.fault
	began, ended := before == nil && fault != nil, before != nil && fault == nil
	if began || ended {
		f.registry.watches.countFault(f, f.fault)
	}
	f.mu.Unlock()
	another := before != nil && fault != nil && errors.Is(before, coord.ErrDenied) != errors.Is(fault, coord.ErrDenied)
	if began || ended || another {
		f.target.faultChanged()
	}
}

// wall is the time of day at a time of the monotonic clock, if it has such a reading.
func wall(t time.Time) time.Time { return clocks.Wall().Add(-time.Since(t)) }
