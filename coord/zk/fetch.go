package zk

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// readers is how many nodes one view reads at once.
const readers = 32

// task is a node to read: its value, its children, or both.
type task struct {
	path            string
	value, children bool
}

// result is what was read for a task.
type result struct {
	task
	node  coord.Node // its path is empty if there is no node
	names []string   // of the children
	err   error
}

// fetch reads nodes, and everything that is new below them. from is the batch of the backlog that the
// tasks are of, to which new tasks are added; nil if there is none. If a node is gone, its parent is
// added to lists.
func (w *watcher) fetch(tasks []task, lists map[string]bool, from *batch) error {
	if len(tasks) == 0 {
		return nil
	}
	f := &fetch{w: w, tasks: tasks, lists: lists, batch: from, over: make(chan struct{}), readers: 1}
	if err := w.wc.conn.start(contextOnly(w.v.ctx), f.work); err != nil {
		return err
	}
	select {
	case <-f.over:
		return f.err
	case <-w.v.ctx.Done():
		f.end(context.Cause(w.v.ctx))
		return context.Cause(w.v.ctx)
	}
}

// fetch reads the nodes of its tasks, with several readers at once. Reading a node may add tasks.
type fetch struct {
	w     *watcher
	lists map[string]bool
	batch *batch // of the tasks; nil if they are in none
	over  chan struct{}

	mu      sync.Mutex // guards all below, and the watcher's tree
	tasks   []task
	readers int
	running int // how many readers are reading
	ended   bool
	err     error
}

// end stops the readers. What they still read is ignored.
func (f *fetch) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endLocked(err)
}

func (f *fetch) endLocked(err error) {
	if !f.ended {
		f.ended, f.err = true, err
		close(f.over)
	}
}

// work is a reader: it takes tasks until none is left or the fetch has ended, and starts more readers
// if there is enough to do.
func (f *fetch) work(client *zookeeper.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.ended && len(f.tasks) > 0 {
		next := f.tasks[len(f.tasks)-1]
		f.tasks = f.tasks[:len(f.tasks)-1]
		for f.readers < min(len(f.tasks)+1, readers) && f.w.wc.conn.tryStart(f.work) {
			f.readers++
		}
		f.running++
		f.mu.Unlock()
		found := f.w.readNode(client, next)
		f.mu.Lock()
		f.running--
		switch {
		case f.ended:
			return
		case found.err != nil && (isLost(found.err) || next.path == f.w.v.path):
			f.endLocked(found.err)
			return
		}
		f.applyLocked(found)
	}
	f.readers--
	if f.running == 0 && len(f.tasks) == 0 {
		f.endLocked(nil)
	}
}

// applyLocked puts what was read into the tree, and adds the tasks that follow from it.
func (f *fetch) applyLocked(found result) {
	w := f.w
	delete(w.backlog.waiting, found.path)
	if found.err != nil || w.v.gaps.covers(found.path) {
		w.removeTree(found.path)
		if found.err != nil {
			w.v.gaps.add(found.path, convertError(found.err, found.path))
		}
		return
	}
	if found.value && found.path != "" && !f.applyValueLocked(found) {
		return
	}
	if found.children {
		f.applyChildrenLocked(found.path, found.names)
	}
}

// applyValueLocked puts a node into the tree. It reports whether the list of children that was read
// with it is to be applied, too.
func (f *fetch) applyValueLocked(found result) bool {
	w := f.w
	if found.node.Path == "" {
		w.remove(found.path, f.lists)
		return false
	}
	known, ok := w.tree.Get(found.path)
	another := !ok || known.Created != found.node.Created
	if another && !found.children && w.v.showsBelow(found.path) {
		// The node was removed and created again, so the watch on its children may be gone:
		// read them as well.
		f.tasks = append(f.tasks, task{path: found.path, value: true, children: true})
		return false
	}
	if w.read != nil {
		if _, again := w.read[found.path]; !again && ok && found.node.Modified < known.Modified {
			w.restored = true
		}
		if ok && found.node.Ephemeral() && !known.Ephemeral() {
			w.removeTree(found.path) // nodes below the former one are gone, and no watch tells
		}
		w.read[found.path] = struct{}{}
	}
	w.v.gaps.remove(found.path)
	if another || known.Modified != found.node.Modified || !known.Holds(found.node.Value) {
		w.tree.Put(found.node)
		w.v.dirty = true
	}
	return !found.node.Ephemeral()
}

// applyChildrenLocked adds tasks for new children.
func (f *fetch) applyChildrenLocked(path string, names []string) {
	w := f.w
	w.large.noteRead(path, len(names))
	if w.read != nil || len(w.v.gaps.reasons) > 0 {
		w.removeMissing(path, names)
	}
	var found []task
	for _, name := range names {
		child := coord.Join(path, name)
		if !w.isWatched(child) && !w.backlog.has(child) && !w.v.gaps.isDeferred(child) {
			found = append(found, task{path: child, value: true, children: true})
		}
	}
	switch {
	case len(found) > bulk && w.v.isOpen():
		w.prioritize(found)
		w.backlog.add(found, f.batch)
	case f.batch != nil:
		w.backlog.addTo(f.batch, found)
	default:
		f.tasks = append(f.tasks, found...)
	}
}

// prioritize sorts tasks while the whole subtree is read again: nodes that had children come first,
// then those that changed last, then new ones.
func (w *watcher) prioritize(tasks []task) {
	if w.read == nil {
		return
	}
	ranks := make(map[string]int64, len(tasks))
	for _, t := range tasks {
		rank := int64(0)
		for n := range w.inherited.All(t.path) {
			if n.Path != t.path {
				rank = math.MaxInt64
				break
			}
			rank = n.Modified
		}
		ranks[t.path] = rank
	}
	slices.SortFunc(tasks, func(x, y task) int { return cmp.Compare(ranks[y.path], ranks[x.path]) })
}

// removeMissing removes what is not in a list of children: inherited nodes, whose removal no watch
// tells, and gaps.
func (w *watcher) removeMissing(path string, names []string) {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for _, name := range w.inherited.Children(path) {
		if !there[name] {
			w.removeTree(coord.Join(path, name))
		}
	}
	w.v.gaps.removeAbsent(path, there)
}

// readNode reads one node, and sets its watches.
func (w *watcher) readNode(client *zookeeper.Conn, t task) result {
	t.children = t.children && w.v.showsBelow(t.path)
	found := result{task: t}
	full := w.v.r.full(t.path)
	path := full[len(full)-len(t.path):] // shares memory with the path of the watch
	if t.value && t.path != "" {
		value, stat, _, err := client.GetW(full)
		if errors.Is(err, zookeeper.ErrNoNode) {
			found.err = w.watchForRoot(client, t.path)
			return found
		}
		if err != nil {
			found.err = err
			return found
		}
		found.node = newNode(path, value, stat)
		if found.node.Ephemeral() {
			return found
		}
	}
	if !t.children {
		return found
	}
	names, _, _, err := client.ChildrenW(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		err = w.watchForRoot(client, t.path) // for any other node the watch on its value tells
	}
	found.names, found.err = names, err
	return found
}

// watchForRoot sets a watch for the creation of the view's root, which is in no list of children that
// the view reads. It does nothing for other nodes.
func (w *watcher) watchForRoot(client *zookeeper.Conn, path string) error {
	if path != w.v.path {
		return nil
	}
	there, _, _, err := client.ExistsW(w.changes.path)
	if err == nil && there {
		w.changes.put(w.changes.path, created)
	}
	return err
}
