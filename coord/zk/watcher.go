package zk

import (
	"context"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// While the tree changes a watcher goes on reading in rounds, and the view shows nothing new: for
// maxSettling, but at least minSettlingRounds, because a slow machine needs long for a round. Rounds
// during which somebody waits for Sync are at most maxSyncRounds.
const (
	maxSettling       = time.Second
	minSettlingRounds = 50
	maxSyncRounds     = 8
)

// watcher keeps a view's tree equal to a subtree of the store, or to its upper levels. It sets a
// watch on the value of each node, and one on the children of each persistent node above the lowest
// level; ephemeral nodes have no children. A watch that fires only says where to look: the node is
// read again, with a new watch.
//
// The watcher reads in rounds. If no watch has fired since a round began, then at its end the tree
// is the one that the store had at the last answer: a server tells a client of a change before it
// answers anything later. So a commit shows as a whole, and never without the commits before it.
// There are two exceptions: the tree changes for a while faster than it can be read, or it grows by
// so much that it is read in slices; see backlog.
//
// A watcher lives as long as its connection. The next one inherits the view's tree, and reads all of
// it again. A part that it has not read yet stays as it is.
type watcher struct {
	v           *view
	wc          *watchConn
	changes     *changeSet
	tree        *coord.Tree
	inherited   coord.Snapshot      // the tree of the watcher before; empty when all of it was read again
	incarnation int                 // of the store, when inherited was read
	read        map[string]struct{} // the paths that were read again; nil when all were
	restored    bool                // a node is older than the inherited one, so the store was restored
	backlog     backlog             // what is read later
	large       largeLists
}

func newWatcher(v *view, wc *watchConn) *watcher {
	w := &watcher{
		v:           v,
		wc:          wc,
		changes:     wc.subscribe(v.r.full(v.path)),
		tree:        v.tree,
		inherited:   v.tree.Snapshot(),
		read:        make(map[string]struct{}),
		incarnation: v.incarnation,
		large:       make(largeLists),
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changes = w.changes
	v.state.on(onWatcher)
	return w
}

func (w *watcher) close() {
	w.v.mu.Lock()
	w.v.changes = nil
	w.v.syncs = append(w.v.syncs, w.backlog.takeWaiters()...) // for the next watcher
	w.v.mu.Unlock()
	watched := len(w.read)
	if w.read == nil {
		watched = w.tree.Snapshot().Len()
	}
	w.wc.unsubscribe(w.changes, 2*watched+1)
}

// follow reads everything, and then what changes, until an error.
func (w *watcher) follow() error {
	if err := w.load(); err != nil {
		return err
	}
	w.v.markLive()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(w.nextWait())
		select {
		case <-w.changes.woken:
		case <-timer.C:
		case <-w.wc.ctx.Done():
			return errConnEnded
		case <-w.v.ctx.Done():
			return context.Cause(w.v.ctx)
		}
		if err := w.catchUp(); err != nil {
			return err
		}
	}
}

// load reads everything for the first time. The sync comes first, because the server may lag behind
// what the view has shown.
func (w *watcher) load() error {
	if err := w.sync(); err != nil {
		return err
	}
	w.changes.put(w.changes.path, created)
	return w.readRounds()
}

// sync returns when all earlier changes of the store are in w.changes.
func (w *watcher) sync() error {
	_, err := call(contextOnly(w.v.ctx), w.wc.conn, func(client *zookeeper.Conn) (string, error) {
		return client.Sync(w.changes.path)
	})
	return err
}

// catchUp reads what has changed, and a slice of the backlog. After an outage it syncs before.
func (w *watcher) catchUp() error {
	recheck := w.v.isRechecking()
	if recheck {
		if err := w.sync(); err != nil {
			return err
		}
	}
	for _, path := range w.v.gaps.due() {
		w.changes.put(w.v.r.full(path), retried)
	}
	if err := w.readRounds(); err != nil {
		return err
	}
	if err := w.readSlice(); err != nil {
		return err
	}
	w.publish()
	if recheck {
		w.v.markLive()
	}
	return nil
}

// nextWait returns how long to wait for a change before there is something else to do.
func (w *watcher) nextWait() time.Duration {
	if !w.backlog.isEmpty() {
		return 0
	}
	return min(w.v.gaps.wait(), w.large.wait())
}

// readRounds reads in rounds until nothing changes during a round, or that takes too long. Then it
// publishes the tree.
func (w *watcher) readRounds() error {
	begun := time.Now()
	var syncs []chan struct{}
	for round, waited := 1, 0; ; round++ {
		syncs = append(syncs, w.v.takeSyncs()...) // before the changes are taken
		if len(syncs) > 0 {
			waited++
		}
		if err := w.readRound(w.changes.take(), len(syncs) > 0); err != nil {
			w.v.mu.Lock()
			w.v.syncs = append(w.v.syncs, syncs...) // for the next watcher
			w.v.mu.Unlock()
			return err
		}
		if w.changes.isEmpty() || waited == maxSyncRounds || round >= minSettlingRounds && time.Since(begun) > maxSettling {
			break
		}
	}
	if !w.changes.isEmpty() {
		w.changes.wake()
	}
	w.backlog.addWaiters(syncs)
	w.publish()
	return nil
}

// publish makes the view show the tree, and ends the calls of Sync that waited for it. It also handles
// what the reads have proved: that the store was restored, or that the inherited tree was read again.
func (w *watcher) publish() {
	if w.restored {
		w.restored = false
		if incarnation, begun := w.v.r.identity.restored(w.incarnation); begun {
			w.wc.conn.incarnation.Store(int64(incarnation))
			w.v.r.endOutdated()
		}
	}
	if w.read != nil && w.backlog.isEmpty() {
		w.read, w.inherited = nil, coord.Snapshot{}
		w.v.incarnation = int(w.wc.conn.incarnation.Load())
	}
	if w.v.dirty || w.v.gaps.changed {
		w.v.publish(w.tree.Snapshot(), w.v.dirty, w.v.gaps.fault())
	}
	w.v.dirty, w.v.gaps.changed = false, false
	for _, synced := range w.backlog.takeDone() {
		close(synced)
	}
}

// isWatched reports whether this watcher has read a node, and thus watches it.
func (w *watcher) isWatched(path string) bool {
	if w.read != nil {
		_, ok := w.read[path]
		return ok
	}
	_, ok := w.tree.Get(path)
	return ok
}

// readRound applies removals, and then reads what else has changed. Values are read before lists of
// children, so that a node in a list but not in the tree is new. urgent is whether somebody waits
// for Sync.
func (w *watcher) readRound(changes map[string]change, urgent bool) error {
	lists := w.large.due(urgent)
	if len(changes) == 0 && len(lists) == 0 {
		return nil
	}
	for full, what := range changes {
		if what&removed != 0 {
			w.remove(w.v.r.relative(full), lists)
		}
	}
	var values []task
	for full, what := range changes {
		path := w.v.r.relative(full)
		switch {
		case path == w.v.path && what&(created|removed) != 0:
			values = append(values, task{path: path, value: true, children: true})
		case what&retried != 0 && !w.isWatched(path):
			values = append(values, task{path: path, value: true, children: true})
		case what&removed != 0: // if it was created again, its parent's list shows that
		case what&valueChanged != 0 && path != "" && w.isWatched(path):
			values = append(values, task{path: path, value: true})
		}
		if what&childrenChanged != 0 {
			lists[path] = true
		}
	}
	if err := w.fetch(values, lists, nil); err != nil {
		return err
	}
	var children []task
	for path := range lists {
		if (path == "" || w.isWatched(path)) && !w.large.postpone(path, urgent) {
			children = append(children, task{path: path, children: true})
		}
	}
	return w.fetch(children, nil, nil)
}

// readSlice reads a slice of the backlog. If a node is gone its parent's children are read again.
func (w *watcher) readSlice() error {
	from, tasks := w.backlog.takeSlice()
	if from == nil {
		return nil
	}
	lists := make(map[string]bool)
	if err := w.fetch(tasks, lists, from); err != nil {
		return err
	}
	for path := range lists {
		w.changes.put(w.v.r.full(path), childrenChanged)
	}
	return nil
}

// remove removes a node from the tree, and adds its parent to lists, because the node may have been
// created again.
func (w *watcher) remove(path string, lists map[string]bool) {
	if w.read != nil {
		w.removeTree(path) // nodes below may not be watched yet
	} else if w.tree.Delete(path) {
		w.v.dirty = true
	}
	w.v.gaps.remove(path)
	if path != w.v.path && lists != nil {
		lists[coord.Parent(path)] = true
	}
}

// removeTree removes a node and everything below it from the tree.
func (w *watcher) removeTree(root string) {
	for n := range w.tree.Snapshot().All(root) {
		w.tree.Delete(n.Path)
		delete(w.read, n.Path)
		w.v.dirty = true
	}
	w.v.gaps.removeTree(root)
}
