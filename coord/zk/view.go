package zk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// view implements [coord.View]. A follower keeps it up to date, a new one for each channel
// of the feed.
type view struct {
	r      *Registry
	path   string
	depth  int             // how many levels below path it shows
	ctx    context.Context // ends with the view; its cause is Err
	cancel context.CancelCauseFunc
	opened chan struct{} // closed when there is a first state
	done   chan struct{} // closed when its goroutine has ended

	// Only the follower uses what follows, and run between two followers.
	tree    *coord.Tree
	dirty   bool // the tree differs from the snapshot
	leftOut gaps // what the tree leaves out
	era     int  // of the store, when the tree was read
	tries   int  // how many attempts to read it in a row have failed

	mu       sync.Mutex // guards all below
	snapshot coord.Snapshot
	lapsed   time.Time         // no follower has read the view since then; zero while one has
	failure  *coord.StaleError // why the view cannot be read at present
	outdated bool              // the store answers again after an outage, and the view is not known to show what it has
	gapFault error             // what the view leaves out
	changed  chan struct{}     // closed when one of these changes, and when the view ends
	syncs    []chan struct{}   // to be closed when the view holds all changes that its inbox has had by then
	inbox    *inbox            // of the follower; nil while there is none
}

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string) (coord.View, error) {
	return r.view(ctx, path, wholeDepth)
}

// ViewDepth implements [coord.Registry].
func (r *Registry) ViewDepth(ctx context.Context, path string, depth int) (coord.View, error) {
	if err := coord.ValidateDepth(depth); err != nil {
		return nil, fmt.Errorf("zk: view %q: %w", path, err)
	}
	return r.view(ctx, path, depth)
}

// wholeDepth is the depth of views that show a whole subtree.
const wholeDepth = math.MaxInt

func (r *Registry) view(ctx context.Context, path string, depth int) (coord.View, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("zk: view: %w", err)
	}
	v := &view{
		r:       r,
		path:    path,
		depth:   depth,
		opened:  make(chan struct{}),
		done:    make(chan struct{}),
		tree:    coord.NewTree(),
		changed: make(chan struct{}),
	}
	v.ctx, v.cancel = context.WithCancelCause(r.ctx)
	if !r.spawn(v.run) {
		return nil, fmt.Errorf("zk: view: %w", context.Cause(r.ctx))
	}
	var err error
	select {
	case <-v.opened:
		return v, nil
	case <-v.ctx.Done():
		err = context.Cause(v.ctx)
	case <-ctx.Done():
		err = convertError(unlimited(ctx).over(), path)
	}
	v.Close()
	return nil, fmt.Errorf("zk: view %w", err)
}

// run follows the subtree on one channel after the other, until the view's context ends. It
// ends that itself only if the view cannot be opened.
func (v *view) run() {
	defer close(v.done)
	v.r.feed.use()
	defer v.r.feed.leave()
	v.r.views.add(v)
	defer v.r.views.remove(v)
	for v.ctx.Err() == nil {
		err := v.follow()
		v.lapse()
		switch {
		case v.ctx.Err() != nil:
		case isLost(err):
			v.r.log.Debug("the connection of a view broke; it will be read again", zap.String("path", v.path), zap.Error(err))
		case !v.isOpen():
			v.cancel(convertError(err, v.path))
		default:
			v.fail(convertError(err, v.path))
			v.pause()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.changed)
}

// shows reports whether the view shows a node, if it is there. The path has to be within the
// view's.
func (v *view) shows(path string) bool {
	return v.depth == wholeDepth || coord.Depth(path, v.path) <= v.depth
}

// showsBelow reports whether the view shows the children of a node.
func (v *view) showsBelow(path string) bool {
	return v.depth == wholeDepth || coord.Depth(path, v.path) < v.depth
}

func (v *view) isOpen() bool {
	select {
	case <-v.opened:
		return true
	default:
		return false
	}
}

// follow keeps the view up to date until the channel ends, or the view.
func (v *view) follow() error {
	l := unlimited(v.ctx)
	if !v.isOpen() { // the caller of View is waiting
		l = v.r.limit(v.ctx)
	}
	ch, err := v.r.feed.next(l)
	if err != nil {
		return err
	}
	f := newFollower(v, ch)
	defer f.close()
	return f.follow()
}

// loaded notes that the subtree has been read.
func (v *view) loaded() {
	v.tries = 0
	if !v.isOpen() {
		close(v.opened)
	}
	v.mu.Lock()
	v.lapsed, v.outdated = time.Time{}, false
	v.mu.Unlock()
	v.fail(nil)
}

// lapse notes that nobody follows the view any more.
func (v *view) lapse() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.lapsed.IsZero() {
		v.lapsed = clocks.Wall()
	}
}

// recheck has the view show what the store has after an outage. Then its fault is over.
func (v *view) recheck() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failure != nil && v.inbox != nil { // else the next follower will read everything
		v.outdated = true
		v.inbox.wake()
	}
}

func (v *view) isOutdated() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.outdated
}

// pause waits before the next attempt to read the subtree, longer each time.
func (v *view) pause() {
	wait := min(time.Second<<min(v.tries, 5), gapInterval)
	v.tries++
	timer := time.NewTimer(wait/2 + rand.N(wait/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-v.ctx.Done():
	}
}

// fail notes why the view cannot be read at present; nil if it can. If err does not say since when,
// it is since nobody follows the view. A fault goes on from when it began, if its reason changes.
func (v *view) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := v.failure
	if err == nil {
		v.failure = nil
		if was != nil {
			v.log("", "a view can be read again", nil)
			v.signalLocked()
		}
		return
	}
	if was != nil && errors.Is(err, coord.ErrDenied) == errors.Is(was, coord.ErrDenied) {
		return // it is the same fault
	}
	fault, ok := err.(*coord.StaleError)
	if !ok {
		fault = &coord.StaleError{Since: v.lapsed, Err: err}
		if v.lapsed.IsZero() {
			fault.Since = clocks.Wall()
		}
	}
	if was != nil {
		fault = &coord.StaleError{Since: was.Since, Err: fault.Err}
	} else {
		v.log("a view cannot be read at present, so it may be old", "", err)
	}
	v.failure = fault
	v.signalLocked()
}

// log says that a fault has begun, or, if err is nil, that it has ended.
func (v *view) log(begun, ended string, err error) {
	log := v.r.log.With(zap.String("path", v.path))
	if err != nil {
		log.Warn(begun, zap.Error(err))
	} else {
		log.Info(ended)
	}
}

func (v *view) signalLocked() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// show sets what Snapshot and Fault return. If one of them is news it wakes those who wait.
func (v *view) show(snapshot coord.Snapshot, news bool, gaps error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.snapshot = snapshot
	if (gaps == nil) != (v.gapFault == nil) || gaps != nil && gaps.Error() != v.gapFault.Error() {
		news = true
	}
	if (gaps == nil) != (v.gapFault == nil) {
		v.log("a view leaves out nodes that may not be read", "a view leaves out no nodes any more", gaps)
	}
	v.gapFault = gaps
	if news {
		v.signalLocked()
	}
}

// takeSyncs removes and returns those who wait in Sync.
func (v *view) takeSyncs() []chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	syncs := v.syncs
	v.syncs = nil
	return syncs
}

// Snapshot implements [coord.View].
func (v *view) Snapshot() coord.Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.snapshot
}

// Changed implements [coord.View].
func (v *view) Changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed
}

// Sync implements [coord.View]. A server tells a client of a change that it watches before it
// answers anything later. So when the answer to the sync has come, all changes up to then
// are in the inbox.
func (v *view) Sync(ctx context.Context) error {
	l := v.r.limit(ctx)
	for v.ctx.Err() == nil {
		err := v.sync(l)
		if err == nil {
			return nil
		}
		if !isLost(err) && v.ctx.Err() == nil {
			return fmt.Errorf("zk: sync view %w", convertError(err, v.path))
		}
	}
	return fmt.Errorf("zk: sync view: %w", v.Err())
}

func (v *view) sync(l limit) error {
	ch, err := v.r.feed.next(l)
	if err != nil {
		return err
	}
	begun := time.Now()
	_, err = call(l, ch.conn, func(client *zookeeper.Conn) (string, error) {
		return client.Sync(v.r.full(v.path))
	})
	if errors.Is(err, errTimeout) {
		ch.conn.breakLink(begun) // the library would notice later that it is broken
	}
	if err != nil {
		return err
	}
	v.r.liveness.Answered()
	synced := make(chan struct{})
	v.mu.Lock()
	if v.inbox == nil && v.failure != nil && errors.Is(v.failure, coord.ErrDenied) {
		defer v.mu.Unlock()
		return v.failure // the next attempt may come much later
	}
	v.syncs = append(v.syncs, synced)
	if v.inbox != nil {
		v.inbox.wake()
	} // else the next follower will read everything
	v.mu.Unlock()
	select {
	case <-synced:
		return nil
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	case <-l.Done():
	case <-l.late:
	}
	return &unansweredError{l.over()}
}

// Fault implements [coord.View].
func (v *view) Fault() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failure != nil {
		return v.failure
	}
	return v.gapFault
}

// Err implements [coord.View].
func (v *view) Err() error {
	if v.ctx.Err() == nil {
		return nil
	}
	return context.Cause(v.ctx)
}

// Close implements [coord.View].
func (v *view) Close() {
	v.cancel(coord.ErrClosed)
	<-v.done
}

// views holds the views of a registry, by their roots.
type views struct {
	mu    sync.RWMutex
	roots map[string][]*view
}

func (vs *views) add(v *view) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.roots == nil {
		vs.roots = make(map[string][]*view)
	}
	vs.roots[v.path] = append(vs.roots[v.path], v)
}

func (vs *views) remove(v *view) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	rest := slices.DeleteFunc(vs.roots[v.path], func(other *view) bool { return other == v })
	if len(rest) == 0 {
		delete(vs.roots, v.path)
	} else {
		vs.roots[v.path] = rest
	}
}

// fail notes that none of the views can be read at present.
func (vs *views) fail(err error) { vs.each(func(v *view) { v.fail(err) }) }

// unanswered notes that the store has not answered since a time.
func (vs *views) unanswered(_ int, since time.Time) {
	vs.each(func(v *view) {
		v.fail(&coord.StaleError{Since: since, Err: fmt.Errorf("zk: view %q: %w: it does not answer", v.path, coord.ErrUnavailable)})
	})
}

// answered notes that the store answers again after an outage.
func (vs *views) answered(int) { vs.each((*view).recheck) }

func (vs *views) each(do func(*view)) {
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	for _, same := range vs.roots {
		for _, v := range same {
			do(v)
		}
	}
}

// lacks reports whether a view says that a node is not there. The view may be behind the
// store.
func (vs *views) lacks(path string) bool {
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	if len(vs.roots) == 0 {
		return false
	}
	for root := path; ; root = coord.Parent(root) {
		for _, v := range vs.roots[root] {
			if v.shows(path) && v.isOpen() {
				return !v.Snapshot().Exists(path)
			}
		}
		if root == "" {
			return false
		}
	}
}
