package zk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// view implements [coord.View]. A watcher keeps it up to date, a new one for each connection
// of the feed.
type view struct {
	r      *Registry
	path   string
	depth  int             // how many levels below path it shows
	ctx    context.Context // ends with the view; its cause is Err
	cancel context.CancelCauseFunc
	opened chan struct{} // closed when there is a first state
	done   chan struct{} // closed when its goroutine has ended

	// The fields below belong to the watcher, and between two watchers to run.
	tree        *coord.Tree
	dirty       bool // the tree differs from the snapshot
	gaps        gaps // what the tree leaves out
	incarnation int  // of the store, when the tree was read
	tries       int  // how many attempts to read it in a row have failed

	mu         sync.Mutex // guards all below
	snapshot   coord.Snapshot
	state      viewState
	staleSince time.Time         // when the last watcher ended, until the next has read the subtree; zero otherwise
	failure    *coord.StaleError // why the view cannot be read at present
	gapFault   error             // what the view leaves out
	changed    broadcast.Signal  // of one of these, or the view has ended
	syncs      []chan struct{}   // calls of Sync: closed when the view has all changes that its watcher knew of
	changes    *changeSet        // of the watcher; nil while there is none
}

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	if err := cmp.Or(coord.ValidateRoot(path), coord.ValidateDepth(depth)); err != nil {
		return nil, fmt.Errorf("zk: view %q: %w", path, err)
	}
	v := &view{
		r:      r,
		path:   path,
		depth:  depth,
		opened: make(chan struct{}),
		done:   make(chan struct{}),
		tree:   coord.NewTree(bounds...),
	}
	v.ctx, v.cancel = context.WithCancelCause(r.ctx)
	if !r.start(v.run) {
		return nil, fmt.Errorf("zk: view: %w", context.Cause(r.ctx))
	}
	var err error
	select {
	case <-v.opened:
		return v, nil
	case <-v.ctx.Done():
		err = context.Cause(v.ctx)
	case <-ctx.Done():
		err = convertError(contextOnly(ctx).cause(), path)
	}
	v.Close()
	return nil, fmt.Errorf("zk: view %w", err)
}

// run follows the subtree on one connection after the other, until the view's context ends. If the
// view cannot be opened it ends the context.
func (v *view) run() {
	defer close(v.done)
	v.r.feed.addUser()
	defer v.r.feed.removeUser()
	v.r.views.add(v)
	defer v.r.views.remove(v)
	for v.ctx.Err() == nil {
		err := v.follow()
		v.markStale()
		switch {
		case v.ctx.Err() != nil:
		case isLost(err):
			v.r.log.Debug("the connection of a view broke; it will be read again", zap.String("path", v.path), zap.Error(err))
		case !v.isOpen():
			v.cancel(convertError(err, v.path))
		default:
			v.setFailure(convertError(err, v.path))
			v.pause()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.on(onClose)
	v.changed.Close()
}

// shows reports whether the view shows a node of its subtree.
func (v *view) shows(path string) bool {
	return v.depth == coord.AllLevels || coord.Depth(path, v.path) <= v.depth
}

// showsBelow reports whether the view shows the children of a node.
func (v *view) showsBelow(path string) bool {
	return v.depth == coord.AllLevels || coord.Depth(path, v.path) < v.depth
}

// isOpen reports whether the view was opened and has not ended.
func (v *view) isOpen() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state != viewOpening && v.state != viewEnded
}

// follow keeps the view up to date until the connection ends, or the view.
func (v *view) follow() error {
	l := contextOnly(v.ctx)
	if !v.isOpen() { // the caller of View is waiting
		l = v.r.limit(v.ctx)
	}
	wc, err := v.r.feed.next(l)
	if err != nil {
		return err
	}
	w := newWatcher(v, wc)
	defer w.close()
	return w.follow()
}

// markLive is called when the subtree was read, or nothing was missed in an outage. The view has no
// failure then.
func (v *view) markLive() {
	v.tries = 0
	v.mu.Lock()
	if v.state == viewOpening {
		close(v.opened)
	}
	v.state.on(onLoad)
	v.staleSince = time.Time{}
	v.mu.Unlock()
	v.setFailure(nil)
}

// markStale is called when the watcher has ended.
func (v *view) markStale() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.on(onStale)
	if v.staleSince.IsZero() {
		v.staleSince = clocks.Wall()
	}
}

// outageEnded is called when the store answers again after an outage. If the view has a failure, its
// watcher syncs and reads what it has missed, which ends the failure. Without a watcher there is
// nothing to do: the next one reads everything.
func (v *view) outageEnded() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failure != nil && v.changes != nil {
		v.state.on(onAnswer)
		v.changes.wake()
	}
}

// isRechecking reports whether the watcher has to sync because of an outage.
func (v *view) isRechecking() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state == viewRechecking
}

// pause waits before the next attempt to read the subtree, longer each time.
func (v *view) pause() {
	wait := min(time.Second<<min(v.tries, 5), gapInterval)
	v.tries++
	sleep.For(v.ctx, sleep.Jitter(wait))
}

// setFailure sets why the view cannot be read at present, nil if it can. If err is no StaleError the
// failure began when the watcher ended. One that replaces another keeps the time of the first.
func (v *view) setFailure(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := v.failure
	if err == nil {
		v.failure = nil
		if was != nil {
			v.log("", "a view can be read again", nil)
			v.changed.Fire()
		}
		return
	}
	if was != nil && errors.Is(err, coord.ErrDenied) == errors.Is(was, coord.ErrDenied) {
		return // it is the same fault
	}
	fault, ok := err.(*coord.StaleError)
	if !ok {
		fault = &coord.StaleError{Since: v.staleSince, Err: err}
		if v.staleSince.IsZero() {
			fault.Since = clocks.Wall()
		}
	}
	if was != nil {
		fault = &coord.StaleError{Since: was.Since, Err: fault.Err}
	} else {
		v.log("a view cannot be read at present, so it may be old", "", err)
	}
	v.failure = fault
	v.changed.Fire()
}

// log logs that a fault has begun or, if err is nil, that it has ended.
func (v *view) log(begun, ended string, err error) {
	log := v.r.log.With(zap.String("path", v.path))
	if err != nil {
		log.Warn(begun, zap.Error(err))
	} else {
		log.Info(ended)
	}
}

// publish sets what Snapshot and Fault return. If one of them has changed it wakes those who wait.
func (v *view) publish(snapshot coord.Snapshot, changed bool, gaps error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.snapshot = snapshot
	if (gaps == nil) != (v.gapFault == nil) || gaps != nil && gaps.Error() != v.gapFault.Error() {
		changed = true
	}
	if (gaps == nil) != (v.gapFault == nil) {
		v.log("a view leaves out nodes that may not be read", "a view leaves out no nodes any more", gaps)
	}
	v.gapFault = gaps
	if changed {
		v.changed.Fire()
	}
}

// takeSyncs removes and returns the calls of Sync.
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
	return v.changed.Next()
}

// Sync implements [coord.View]. A server sends the event of a watch before any later answer. So when
// the answer to the sync has come, all changes up to then are in v.changes.
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
	wc, err := v.r.feed.next(l)
	if err != nil {
		return err
	}
	begun := time.Now()
	_, err = call(l, wc.conn, func(client *zookeeper.Conn) (string, error) {
		return client.Sync(v.r.full(v.path))
	})
	if errors.Is(err, errTimeout) {
		wc.conn.breakLink(begun) // the library would notice later that it is broken
	}
	if err != nil {
		return err
	}
	v.r.liveness.Answered()
	synced := make(chan struct{})
	v.mu.Lock()
	if v.changes == nil && v.failure != nil && errors.Is(v.failure, coord.ErrDenied) {
		defer v.mu.Unlock()
		return v.failure // the next attempt may come much later
	}
	v.syncs = append(v.syncs, synced)
	if v.changes != nil {
		v.changes.wake()
	} // else the next watcher reads everything
	v.mu.Unlock()
	select {
	case <-synced:
		return nil
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	case <-l.Done():
	case <-l.late:
	}
	return &unansweredError{l.cause()}
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
func (v *view) Err() error { return context.Cause(v.ctx) }

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

// setFailure sets why none of the views can be read at present.
func (vs *views) setFailure(err error) { vs.each(func(v *view) { v.setFailure(err) }) }

// outageBegan is called when the store has not answered since a time.
func (vs *views) outageBegan(_ int, since time.Time) {
	vs.each(func(v *view) {
		v.setFailure(&coord.StaleError{Since: since, Err: fmt.Errorf("zk: view %q: %w: it does not answer", v.path, coord.ErrUnavailable)})
	})
}

// outageEnded is called when the store answers again after an outage.
func (vs *views) outageEnded(int) { vs.each((*view).outageEnded) }

func (vs *views) each(do func(*view)) {
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	for _, same := range vs.roots {
		for _, v := range same {
			do(v)
		}
	}
}

// lacks reports whether a view shows that a node does not exist. The view may be behind the store.
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
