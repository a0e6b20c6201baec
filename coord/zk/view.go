package zk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// view implements [coord.View]. A follower keeps it up to date, one for each channel of
// the feed.
type view struct {
	r      *Registry
	path   string
	ctx    context.Context // ends with the view, with what Err returns
	cancel context.CancelCauseFunc
	opened chan struct{} // closed when there is a first state
	done   chan struct{} // closed when its goroutine has ended

	// What follows is the follower's, and that of run between two of them.
	tree  *coord.Tree
	dirty bool // the tree differs from the snapshot
	left  gaps // what the tree leaves out
	era   int  // of the store that the tree is of
	tries int  // to read it that have failed, one after the other

	mu       sync.Mutex // guards all below
	snapshot coord.Snapshot
	failure  error           // why it cannot be read at present
	gaps     error           // what it leaves out
	changed  chan struct{}   // closed when one of these changes, or the view has ended
	syncs    []chan struct{} // to be closed when the view holds what it was told of by now
	inbox    *inbox          // of the follower; nil while there is none
}

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string) (coord.View, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("zk: view: %w", err)
	}
	v := &view{
		r:       r,
		path:    path,
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

// run follows the subtree on one channel after the other. Only the end of the view's
// context ends that, once it is open.
func (v *view) run() {
	defer close(v.done)
	v.r.feed.use()
	defer v.r.feed.leave()
	v.r.views.add(v)
	defer v.r.views.remove(v)
	for v.ctx.Err() == nil {
		err := v.follow()
		switch {
		case v.ctx.Err() != nil:
		case isLost(err):
			v.r.cfg.Logger.Debug("view lost its connection", zap.String("path", v.path), zap.Error(err))
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
	if !v.isOpen() { // somebody is waiting
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
	v.fail(nil)
}

// pause waits before the subtree is read again that could not be, longer every time.
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

// fail notes why the view cannot be read at present, or that it can.
func (v *view) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := v.failure
	if err != nil && was != nil && errors.Is(err, coord.ErrDenied) == errors.Is(was, coord.ErrDenied) {
		return // it says the same in other words
	}
	v.failure = err
	if (err == nil) != (was == nil) {
		v.log("view cannot be read", "view can be read again", err)
	}
	if err != was {
		v.signalLocked()
	}
}

// log says that a fault has begun, or ended if there is no error.
func (v *view) log(begun, ended string, err error) {
	log := v.r.cfg.Logger.With(zap.String("namespace", v.r.cfg.Namespace), zap.String("path", v.path))
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

// show makes a state the one that Snapshot returns, and tells if it is news.
func (v *view) show(snapshot coord.Snapshot, news bool, gaps error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.snapshot = snapshot
	if (gaps == nil) != (v.gaps == nil) || gaps != nil && gaps.Error() != v.gaps.Error() {
		news = true
	}
	if (gaps == nil) != (v.gaps == nil) {
		v.log("view leaves nodes out", "view is whole again", gaps)
	}
	v.gaps = gaps
	if news {
		v.signalLocked()
	}
}

// takeSyncs returns those who wait for what has been heard of by now.
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

// Sync implements [coord.View]. A server tells a client of a change that it watches
// before it answers anything that came later. So when the answer to the sync is here,
// everything that has to be looked at is in the inbox.
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
		ch.conn.breakLink(begun) // rather than wait for the library to notice
	}
	if err != nil {
		return err
	}
	synced := make(chan struct{})
	v.mu.Lock()
	if v.inbox == nil && errors.Is(v.failure, coord.ErrDenied) {
		defer v.mu.Unlock()
		return v.failure // the next follower may have to wait for long
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
	return v.gaps
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

// views are those of a registry, by their roots.
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
func (vs *views) fail(err error) {
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	for _, same := range vs.roots {
		for _, v := range same {
			v.fail(err)
		}
	}
}

// lack reports whether there is a view that would show a node, and does not. It may be
// behind the store.
func (vs *views) lack(path string) bool {
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	if len(vs.roots) == 0 {
		return false
	}
	for root := path; ; root = coord.Parent(root) {
		for _, v := range vs.roots[root] {
			if v.isOpen() {
				return !v.Snapshot().Exists(path)
			}
		}
		if root == "" {
			return false
		}
	}
}
