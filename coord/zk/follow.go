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

// readers is how many nodes one view asks for at once.
const readers = 32

// A view goes on reading while there is news, and shows nothing in between: for at most
// a second, unless a slow machine needs that for a few rounds; and for fewer rounds when
// somebody waits for Sync.
const (
	settling       = time.Second
	settlingRounds = 50
	syncRounds     = 8
)

// follower holds a subtree and keeps a watch on each of its nodes' values and, as
// ephemeral nodes have none, on the persistent ones' children. A watch that fires only
// says where to look: what is there is read again, with a new watch.
//
// When a round of reading is over and no watch has fired since it began, the tree is the
// one the store had at the last answer: any change since the watch was set would have
// been told before that. So what one commit changed shows at once, and no commit without
// those before it, unless the tree changes faster than it can be read for a while, or
// grows by so much that it is read in slices; see backlog.
//
// The view's tree is handed on from one follower to the next. What a follower has not
// read itself yet is there as the one before it left it.
type follower struct {
	v       *view
	ch      *channel
	inbox   *inbox
	tree    *coord.Tree
	old     coord.Snapshot      // what was handed on; empty when all of it has been read again
	read    map[string]struct{} // what has been read again; nil when all of it has
	since   int                 // the era of the store in which it was handed on
	back    bool                // the store has stepped back since
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

// follow reads everything, and then what changes, until an error ends that.
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
			return errOver
		case <-f.v.ctx.Done():
			return context.Cause(f.v.ctx)
		}
		if err := f.catchUp(); err != nil {
			return err
		}
	}
}

// load reads everything for the first time. A server that was not heard of before may
// lag behind what the view has shown, unless it is made to catch up.
func (f *follower) load() error {
	_, err := call(unlimited(f.v.ctx), f.ch.conn, func(client *zookeeper.Conn) (string, error) {
		return client.Sync(f.inbox.path)
	})
	if err != nil {
		return err
	}
	f.inbox.put(f.inbox.path, created)
	return f.rounds()
}

// catchUp reads what has changed, and a slice of what is left to read.
func (f *follower) catchUp() error {
	for _, path := range f.v.left.due() {
		f.inbox.put(f.v.r.full(path), retried)
	}
	if err := f.rounds(); err != nil {
		return err
	}
	if err := f.slice(); err != nil {
		return err
	}
	f.show()
	return nil
}

// next is how long nothing has to be done if nothing changes.
func (f *follower) next() time.Duration {
	if !f.backlog.isEmpty() {
		return 0
	}
	return min(f.v.left.wait(), f.large.wait())
}

// rounds reads until nothing has changed meanwhile, or that takes too long, and shows
// the state.
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

// show lets the view show the tree, and those go on who have waited for it.
func (f *follower) show() {
	if f.back {
		f.back = false
		if era, news := f.v.r.history.wentBack(f.since); news {
			f.ch.conn.era.Store(int64(era))
			f.v.r.outdate()
		}
	}
	if f.read != nil && f.backlog.isEmpty() {
		f.read, f.old = nil, coord.Snapshot{}
		f.v.era = int(f.ch.conn.era.Load())
	}
	if f.v.dirty || f.v.left.changed {
		f.v.show(f.tree.Snapshot(), f.v.dirty, f.v.left.fault())
	}
	f.v.dirty, f.v.left.changed = false, false
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

// round looks at what may have changed. Removals are known; values are read before
// lists of children, so that whatever a list has and the tree has not is new.
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
	var values []errand
	for full, what := range changes {
		path := f.v.r.relative(full)
		switch {
		case path == f.v.path && what&(created|removed) != 0:
			values = append(values, errand{path: path, value: true, children: true})
		case what&retried != 0 && !f.knows(path):
			values = append(values, errand{path: path, value: true, children: true})
		case what&removed != 0: // if it is there again, its parent's list will show
		case what&valueChanged != 0 && path != "" && f.knows(path):
			values = append(values, errand{path: path, value: true})
		}
		if what&childrenChanged != 0 {
			lists[path] = true
		}
	}
	if err := f.run(values, lists, nil); err != nil {
		return err
	}
	var children []errand
	for path := range lists {
		if (path == "" || f.knows(path)) && !f.large.putOff(path, urgent) {
			children = append(children, errand{path: path, children: true})
		}
	}
	return f.run(children, nil, nil)
}

// slice reads a part of the backlog. What it finds to be gone is looked for again.
func (f *follower) slice() error {
	l, errands := f.backlog.slice()
	if l == nil {
		return nil
	}
	lists := make(map[string]bool)
	if err := f.run(errands, lists, l); err != nil {
		return err
	}
	for path := range lists {
		f.inbox.put(f.v.r.full(path), childrenChanged)
	}
	return nil
}

// remove takes a node out of the tree. Its parent has to be looked at: the node may be
// there again.
func (f *follower) remove(path string, lists map[string]bool) {
	if f.read != nil {
		f.removeTree(path) // nobody tells of the end of what has not been read yet
	} else if f.tree.Delete(path) {
		f.v.dirty = true
	}
	f.v.left.remove(path)
	if path != f.v.path && lists != nil {
		lists[coord.Parent(path)] = true
	}
}

// removeTree takes a node and everything below it out of the tree.
func (f *follower) removeTree(root string) {
	for n := range f.tree.Snapshot().All(root) {
		f.tree.Delete(n.Path)
		delete(f.read, n.Path)
		f.v.dirty = true
	}
	f.v.left.removeTree(root)
}

// errand is something to read.
type errand struct {
	path            string
	value, children bool
}

// finding is what was read.
type finding struct {
	errand
	node  coord.Node // with an empty path if it is not there
	names []string
	err   error // why the node cannot be read, though others can
}

// run reads what it is asked for, and all of what is new below; what belongs to a lot of
// the backlog goes back there. Nodes that turn out to be gone have their parents added
// to lists.
func (f *follower) run(errands []errand, lists map[string]bool, l *lot) error {
	if len(errands) == 0 {
		return nil
	}
	b := &burst{f: f, errands: errands, lists: lists, lot: l, over: make(chan struct{}), readers: 1}
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

// burst is a number of errands, which lead to others, and several readers who run them.
type burst struct {
	f     *follower
	lists map[string]bool
	lot   *lot // that the errands are of; nil if they are news
	over  chan struct{}

	mu      sync.Mutex // guards all below, and the follower's tree
	errands []errand
	readers int
	running int // errands that readers are on
	ended   bool
	err     error
}

// end makes readers stop, and what they still bring is dropped.
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

// work runs errands until there are none, or the burst is over. It gets itself help when
// there is enough to do.
func (b *burst) work(client *zookeeper.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && len(b.errands) > 0 {
		next := b.errands[len(b.errands)-1]
		b.errands = b.errands[:len(b.errands)-1]
		for b.readers < min(len(b.errands)+1, readers) && b.f.ch.conn.tryStart(b.work) {
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
	if b.running == 0 && len(b.errands) == 0 {
		b.endLocked(nil)
	}
}

// foldLocked puts what was read into the tree, and adds what has to be read for it.
func (b *burst) foldLocked(found finding) {
	f := b.f
	delete(f.backlog.waiting, found.path)
	if found.err != nil || f.v.left.covers(found.path) {
		f.removeTree(found.path)
		if found.err != nil {
			f.v.left.add(found.path, convertError(found.err, found.path))
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

// foldValueLocked reports whether the children have to be looked at.
func (b *burst) foldValueLocked(found finding) bool {
	f := b.f
	if found.node.Path == "" {
		f.remove(found.path, b.lists)
		return false
	}
	known, ok := f.tree.Get(found.path)
	another := !ok || known.Created != found.node.Created
	if another && !found.children {
		// The one that was known is gone, and the watch on its children may be
		// too: this one has to be read with its children.
		b.errands = append(b.errands, errand{path: found.path, value: true, children: true})
		return false
	}
	if f.read != nil {
		if _, again := f.read[found.path]; !again && ok && found.node.Modified < known.Modified {
			f.back = true
		}
		if ok && found.node.Ephemeral() && !known.Ephemeral() {
			f.removeTree(found.path) // nobody tells of the end of what was below
		}
		f.read[found.path] = struct{}{}
	}
	f.v.left.remove(found.path)
	if another || known.Modified != found.node.Modified || !bytes.Equal(known.Value, found.node.Value) {
		f.tree.Put(found.node)
		f.v.dirty = true
	}
	return !found.node.Ephemeral()
}

func (b *burst) foldChildrenLocked(path string, names []string) {
	f := b.f
	f.large.read(path, len(names))
	if f.read != nil || len(f.v.left.reasons) > 0 {
		f.sweep(path, names)
	}
	var found []errand
	for _, name := range names {
		child := coord.Join(path, name)
		if !f.knows(child) && !f.backlog.has(child) && !f.v.left.restAt(child) {
			found = append(found, errand{path: child, value: true, children: true})
		}
	}
	switch {
	case len(found) > bulk && f.v.isOpen():
		f.rank(found)
		f.backlog.add(found, b.lot)
	case b.lot != nil:
		f.backlog.addTo(b.lot, found)
	default:
		b.errands = append(b.errands, found...)
	}
}

// rank puts first what most likely matters, where everything has to be read again: nodes
// that had others below them, then those that changed last, and what is new at the end.
func (f *follower) rank(errands []errand) {
	if f.read == nil {
		return
	}
	ranks := make(map[string]int64, len(errands))
	for _, e := range errands {
		rank := int64(0)
		for n := range f.old.All(e.path) {
			if n.Path != e.path {
				rank = math.MaxInt64
				break
			}
			rank = n.Modified
		}
		ranks[e.path] = rank
	}
	slices.SortFunc(errands, func(x, y errand) int { return cmp.Compare(ranks[y.path], ranks[x.path]) })
}

// sweep takes out of the tree, and forgets of the gaps, what a list of children lacks
// and nobody tells of.
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
	f.v.left.keep(path, there)
}

// look reads one node, and sets watches.
func (f *follower) look(client *zookeeper.Conn, e errand) finding {
	found := finding{errand: e}
	full := f.v.r.full(e.path)
	path := full[len(full)-len(e.path):] // shares what the watch holds anyway
	if e.value && e.path != "" {
		value, stat, _, err := client.GetW(full)
		if errors.Is(err, zookeeper.ErrNoNode) {
			found.err = f.watchForRoot(client, e.path)
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
	if !e.children {
		return found
	}
	names, _, _, err := client.ChildrenW(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		err = f.watchForRoot(client, e.path) // of another node's end its own watch tells
	}
	found.names, found.err = names, err
	return found
}

// watchForRoot waits for the root of the view to be created: nobody else's list would
// show it.
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
