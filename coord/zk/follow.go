package zk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// readers is how many nodes one view reads at once.
const readers = 32

// While there is news a view goes on reading in rounds, and shows nothing new. It does so
// for at most the time settling, but for at least settlingRounds, because a slow machine
// needs long for a few rounds. While somebody waits for Sync, syncRounds are the most.
const (
	settling       = time.Second
	settlingRounds = 50
	syncRounds     = 8
)

// follower holds a subtree, or its upper levels. It keeps a watch on the value of each node,
// and one on the children of each persistent node above the lowest level; ephemeral nodes have
// no children. A watch that fires
// only says where to look: the node is read again, with a new watch.
//
// If no watch has fired since a round of reading began, then at its end the tree is the one
// that the store had at the last answer: a server tells a client of a change before it
// answers anything later. So a commit shows as a whole, and never without the commits before
// it. There are two exceptions: the tree changes for a while faster than it can be read, or
// it grows by so much that it is read in slices; see backlog.
//
// One follower hands the view's tree on to the next. A part that the next has not read yet
// stays as the one before left it.
type follower struct {
	v       *view
	ch      *channel
	inbox   *inbox
	tree    *coord.Tree
	old     coord.Snapshot      // the tree that was handed on; empty when all of it has been read again
	read    map[string]struct{} // what has been read again; nil when all has
	since   int                 // the era of the tree that was handed on
	back    bool                // a node shows that the store went back since then
	backlog backlog
	large   largeLists
}

func newFollower(v *view, ch *channel) *follower {
	f := &follower{
		v:     v,
		ch:    ch,
		inbox: ch.subscribe(v.r.full(v.path)),
		tree:  v.tree,
		old:   v.tree.Snapshot(),
		read:  make(map[string]struct{}),
		since: v.era,
		large: make(largeLists),
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inbox = f.inbox
	return f
}

func (f *follower) close() {
	f.v.mu.Lock()
	f.v.inbox = nil
	f.v.syncs = append(f.v.syncs, f.backlog.abandon()...) // for the next follower
	f.v.mu.Unlock()
	watched := len(f.read)
	if f.read == nil {
		watched = f.tree.Snapshot().Len()
	}
	f.ch.unsubscribe(f.inbox, 2*watched+1)
}

// follow reads everything once, and then what changes. It returns only with an error.
func (f *follower) follow() error {
	if err := f.load(); err != nil {
		return err
	}
	f.v.loaded()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(f.next())
		select {
		case <-f.inbox.woken:
		case <-timer.C:
		case <-f.ch.down:
			return errConnEnded
		case <-f.v.ctx.Done():
			return context.Cause(f.v.ctx)
		}
		if err := f.catchUp(); err != nil {
			return err
		}
	}
}

// load reads everything for the first time. The sync comes first, because the server may be
// another than before, and lag behind what the view has shown.
func (f *follower) load() error {
	if err := f.sync(); err != nil {
		return err
	}
	f.inbox.put(f.inbox.path, created)
	return f.rounds()
}

// sync returns when all changes that the store had by then are in the inbox.
func (f *follower) sync() error {
	_, err := call(unlimited(f.v.ctx), f.ch.conn, func(client *zookeeper.Conn) (string, error) {
		return client.Sync(f.inbox.path)
	})
	return err
}

// catchUp reads what has changed, and a slice of the backlog.
func (f *follower) catchUp() error {
	outdated := f.v.isOutdated()
	if outdated {
		if err := f.sync(); err != nil {
			return err
		}
	}
	for _, path := range f.v.leftOut.due() {
		f.inbox.put(f.v.r.full(path), retried)
	}
	if err := f.rounds(); err != nil {
		return err
	}
	if err := f.slice(); err != nil {
		return err
	}
	f.show()
	if outdated {
		f.v.loaded()
	}
	return nil
}

// next is how long to wait until there is something to do though nothing changes.
func (f *follower) next() time.Duration {
	if !f.backlog.isEmpty() {
		return 0
	}
	return min(f.v.leftOut.wait(), f.large.wait())
}

// rounds reads until a round brings no more news, or that takes too long. Then it shows the
// tree.
func (f *follower) rounds() error {
	begun := time.Now()
	var syncs []chan struct{}
	for round, waited := 1, 0; ; round++ {
		syncs = append(syncs, f.v.takeSyncs()...) // before the inbox is emptied
		if len(syncs) > 0 {
			waited++
		}
		if err := f.round(f.inbox.take(), len(syncs) > 0); err != nil {
			f.v.mu.Lock()
			f.v.syncs = append(f.v.syncs, syncs...) // for the next follower
			f.v.mu.Unlock()
			return err
		}
		if f.inbox.isEmpty() || waited == syncRounds || round >= settlingRounds && time.Since(begun) > settling {
			break
		}
	}
	if !f.inbox.isEmpty() {
		f.inbox.wake()
	}
	f.backlog.wait(syncs)
	f.show()
	return nil
}

// show makes the view show the tree, and wakes those who have waited for that.
func (f *follower) show() {
	if f.back {
		f.back = false
		if era, begun := f.v.r.history.stepBack(f.since); begun {
			f.ch.conn.era.Store(int64(era))
			f.v.r.endOutdated()
		}
	}
	if f.read != nil && f.backlog.isEmpty() {
		f.read, f.old = nil, coord.Snapshot{}
		f.v.era = int(f.ch.conn.era.Load())
	}
	if f.v.dirty || f.v.leftOut.changed {
		f.v.show(f.tree.Snapshot(), f.v.dirty, f.v.leftOut.fault())
	}
	f.v.dirty, f.v.leftOut.changed = false, false
	for _, synced := range f.backlog.done() {
		close(synced)
	}
}

// knows reports whether this follower has read a node, and so watches it.
func (f *follower) knows(path string) bool {
	if f.read != nil {
		_, ok := f.read[path]
		return ok
	}
	_, ok := f.tree.Get(path)
	return ok
}

// round applies or reads what has changed. Removals need no reading. Values are read before
// lists of children: then everything that is in a list but not in the tree is new.
func (f *follower) round(changes map[string]change, urgent bool) error {
	lists := f.large.due(urgent)
	if len(changes) == 0 && len(lists) == 0 {
		return nil
	}
	for full, what := range changes {
		if what&removed != 0 {
			f.remove(f.v.r.relative(full), lists)
		}
	}
	var values []task
	for full, what := range changes {
		path := f.v.r.relative(full)
		switch {
		case path == f.v.path && what&(created|removed) != 0:
			values = append(values, task{path: path, value: true, children: true})
		case what&retried != 0 && !f.knows(path):
			values = append(values, task{path: path, value: true, children: true})
		case what&removed != 0: // if it was created again, its parent's list shows that
		case what&valueChanged != 0 && path != "" && f.knows(path):
			values = append(values, task{path: path, value: true})
		}
		if what&childrenChanged != 0 {
			lists[path] = true
		}
	}
	if err := f.run(values, lists, nil); err != nil {
		return err
	}
	var children []task
	for path := range lists {
		if (path == "" || f.knows(path)) && !f.large.putOff(path, urgent) {
			children = append(children, task{path: path, children: true})
		}
	}
	return f.run(children, nil, nil)
}

// slice reads a part of the backlog. If a node is gone its parent is read again.
func (f *follower) slice() error {
	from, tasks := f.backlog.slice()
	if from == nil {
		return nil
	}
	lists := make(map[string]bool)
	if err := f.run(tasks, lists, from); err != nil {
		return err
	}
	for path := range lists {
		f.inbox.put(f.v.r.full(path), childrenChanged)
	}
	return nil
}

// remove removes a node from the tree, and adds its parent to lists, because the node may
// have been created again.
func (f *follower) remove(path string, lists map[string]bool) {
	if f.read != nil {
		f.removeTree(path) // what lies below may not be read yet, so no watch tells of its end
	} else if f.tree.Delete(path) {
		f.v.dirty = true
	}
	f.v.leftOut.remove(path)
	if path != f.v.path && lists != nil {
		lists[coord.Parent(path)] = true
	}
}

// removeTree removes a node and everything below it from the tree.
func (f *follower) removeTree(root string) {
	for n := range f.tree.Snapshot().All(root) {
		f.tree.Delete(n.Path)
		delete(f.read, n.Path)
		f.v.dirty = true
	}
	f.v.leftOut.removeTree(root)
}

// task is a node to read: its value, its children, or both.
type task struct {
	path            string
	value, children bool
}

// finding is what was read for a task.
type finding struct {
	task
	node  coord.Node // its path is empty if there is no node
	names []string   // of the children
	err   error
}

// run reads tasks, and everything that is new below them. What is found for a batch of the
// backlog is added to that batch. If a node is gone, its parent is added to lists.
func (f *follower) run(tasks []task, lists map[string]bool, from *batch) error {
	if len(tasks) == 0 {
		return nil
	}
	b := &burst{f: f, tasks: tasks, lists: lists, batch: from, over: make(chan struct{}), readers: 1}
	if err := f.ch.conn.start(unlimited(f.v.ctx), b.work); err != nil {
		return err
	}
	select {
	case <-b.over:
		return b.err
	case <-f.v.ctx.Done():
		b.end(context.Cause(f.v.ctx))
		return context.Cause(f.v.ctx)
	}
}

// burst is a number of tasks, and several readers who do them. Tasks can lead to more tasks.
type burst struct {
	f     *follower
	lists map[string]bool
	batch *batch // that the tasks are of; nil if they are news
	over  chan struct{}

	mu      sync.Mutex // guards all below, and the follower's tree
	tasks   []task
	readers int
	running int // how many readers are reading
	ended   bool
	err     error
}

// end makes the readers stop. What they still read is dropped.
func (b *burst) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endLocked(err)
}

func (b *burst) endLocked(err error) {
	if !b.ended {
		b.ended, b.err = true, err
		close(b.over)
	}
}

// work is a reader: it does tasks until there are none, or the burst has ended. If there is
// enough to do it starts more readers.
func (b *burst) work(client *zookeeper.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && len(b.tasks) > 0 {
		next := b.tasks[len(b.tasks)-1]
		b.tasks = b.tasks[:len(b.tasks)-1]
		for b.readers < min(len(b.tasks)+1, readers) && b.f.ch.conn.tryStart(b.work) {
			b.readers++
		}
		b.running++
		b.mu.Unlock()
		found := b.f.look(client, next)
		b.mu.Lock()
		b.running--
		switch {
		case b.ended:
			return
		case found.err != nil && (isLost(found.err) || next.path == b.f.v.path):
			b.endLocked(found.err)
			return
		}
		b.foldLocked(found)
	}
	b.readers--
	if b.running == 0 && len(b.tasks) == 0 {
		b.endLocked(nil)
	}
}

// foldLocked puts what was read into the tree, and adds the tasks that follow from it.
func (b *burst) foldLocked(found finding) {
	f := b.f
	delete(f.backlog.waiting, found.path)
	if found.err != nil || f.v.leftOut.covers(found.path) {
		f.removeTree(found.path)
		if found.err != nil {
			f.v.leftOut.add(found.path, convertError(found.err, found.path))
		}
		return
	}
	if found.value && found.path != "" && !b.foldValueLocked(found) {
		return
	}
	if found.children {
		b.foldChildrenLocked(found.path, found.names)
	}
}

// foldValueLocked puts a value into the tree. It reports whether the children that were read
// with it are to be put in as well.
func (b *burst) foldValueLocked(found finding) bool {
	f := b.f
	if found.node.Path == "" {
		f.remove(found.path, b.lists)
		return false
	}
	known, ok := f.tree.Get(found.path)
	another := !ok || known.Created != found.node.Created
	if another && !found.children && f.v.showsBelow(found.path) {
		// The known node was removed, and this is another one. The watch on the
		// children may be gone, so they have to be read as well.
		b.tasks = append(b.tasks, task{path: found.path, value: true, children: true})
		return false
	}
	if f.read != nil {
		if _, again := f.read[found.path]; !again && ok && found.node.Modified < known.Modified {
			f.back = true
		}
		if ok && found.node.Ephemeral() && !known.Ephemeral() {
			f.removeTree(found.path) // no watch tells of the end of what was below
		}
		f.read[found.path] = struct{}{}
	}
	f.v.leftOut.remove(found.path)
	if another || known.Modified != found.node.Modified || !bytes.Equal(known.Value, found.node.Value) {
		f.tree.Put(found.node)
		f.v.dirty = true
	}
	return !found.node.Ephemeral()
}

// foldChildrenLocked adds tasks for new children.
func (b *burst) foldChildrenLocked(path string, names []string) {
	f := b.f
	f.large.read(path, len(names))
	if f.read != nil || len(f.v.leftOut.reasons) > 0 {
		f.sweep(path, names)
	}
	var found []task
	for _, name := range names {
		child := coord.Join(path, name)
		if !f.knows(child) && !f.backlog.has(child) && !f.v.leftOut.waitsAt(child) {
			found = append(found, task{path: child, value: true, children: true})
		}
	}
	switch {
	case len(found) > bulk && f.v.isOpen():
		f.rank(found)
		f.backlog.add(found, b.batch)
	case b.batch != nil:
		f.backlog.addTo(b.batch, found)
	default:
		b.tasks = append(b.tasks, found...)
	}
}

// rank sorts tasks when everything has to be read again, so that the most important nodes
// are read first: those that had children, then those that changed last, then new ones.
func (f *follower) rank(tasks []task) {
	if f.read == nil {
		return
	}
	ranks := make(map[string]int64, len(tasks))
	for _, t := range tasks {
		rank := int64(0)
		for n := range f.old.All(t.path) {
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

// sweep removes what is not in a list of children: from the tree what was handed on, because
// no watch tells of its end, and from the gaps.
func (f *follower) sweep(path string, names []string) {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for _, name := range f.old.Children(path) {
		if !there[name] {
			f.removeTree(coord.Join(path, name))
		}
	}
	f.v.leftOut.keep(path, there)
}

// look reads one node, and sets watches.
func (f *follower) look(client *zookeeper.Conn, t task) finding {
	t.children = t.children && f.v.showsBelow(t.path)
	found := finding{task: t}
	full := f.v.r.full(t.path)
	path := full[len(full)-len(t.path):] // shares its memory with the path of the watch
	if t.value && t.path != "" {
		value, stat, _, err := client.GetW(full)
		if errors.Is(err, zookeeper.ErrNoNode) {
			found.err = f.watchForRoot(client, t.path)
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
		err = f.watchForRoot(client, t.path) // the watch on its value tells the end of any other node
	}
	found.names, found.err = names, err
	return found
}

// watchForRoot sets a watch for the creation of the view's root, which is in no list of
// children that the view reads. For any other node it does nothing.
func (f *follower) watchForRoot(client *zookeeper.Conn, path string) error {
	if path != f.v.path {
		return nil
	}
	there, _, _, err := client.ExistsW(f.inbox.path)
	if err == nil && there {
		f.inbox.put(f.inbox.path, created)
	}
	return err
}
