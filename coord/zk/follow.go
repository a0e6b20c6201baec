package zk

import (
	"context"
	"errors"
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
// those before it, unless the tree changes faster than it can be read for a while.
type follower struct {
	v     *view
	ch    *channel
	inbox *inbox
	tree  *coord.Tree
	dirty bool // it differs from what the view shows
}

func newFollower(v *view, ch *channel) *follower {
	f := &follower{v: v, ch: ch, inbox: ch.subscribe(v.r.full(v.path)), tree: coord.NewTree()}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inbox = f.inbox
	return f
}

func (f *follower) close() {
	f.v.mu.Lock()
	f.v.inbox = nil
	nodes := f.v.snapshot.Len()
	f.v.mu.Unlock()
	f.ch.unsubscribe(f.inbox, 2*nodes+1)
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
	f.dirty = true // even if there is nothing: what the view shows is of another tree
	return f.rounds(func(old, new coord.Snapshot) bool { return !same(old, new, f.v.path) })
}

// catchUp reads what has changed.
func (f *follower) catchUp() error {
	return f.rounds(func(_, _ coord.Snapshot) bool { return true })
}

// rounds reads until nothing has changed meanwhile, or that takes too long, and shows
// the state.
func (f *follower) rounds(isNews func(old, new coord.Snapshot) bool) error {
	begun := time.Now()
	var syncs []chan struct{}
	for round, waited := 1, 0; ; round++ {
		syncs = append(syncs, f.v.takeSyncs()...) // before the inbox is emptied
		if len(syncs) > 0 {
			waited++
		}
		if err := f.round(f.inbox.take()); err != nil {
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
	if f.dirty {
		f.v.show(f.tree.Snapshot(), isNews)
	}
	f.dirty = false
	for _, synced := range syncs {
		close(synced)
	}
	return nil
}

// round looks at what may have changed. Removals are known; values are read before
// lists of children, so that whatever a list has and the tree has not is new.
func (f *follower) round(changes map[string]change) error {
	if len(changes) == 0 {
		return nil
	}
	lists := make(map[string]bool)
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
		case what&removed != 0: // if it is there again, its parent's list will show
		case what&valueChanged != 0 && path != "":
			values = append(values, errand{path: path, value: true})
		}
		if what&childrenChanged != 0 {
			lists[path] = true
		}
	}
	if err := f.run(values, lists); err != nil {
		return err
	}
	var children []errand
	for path := range lists {
		if _, ok := f.tree.Get(path); ok || path == "" {
			children = append(children, errand{path: path, children: true})
		}
	}
	return f.run(children, nil)
}

// remove takes a node out of the tree. Its parent has to be looked at: the node may be
// there again.
func (f *follower) remove(path string, lists map[string]bool) {
	if f.tree.Delete(path) {
		f.dirty = true
	}
	if path != f.v.path && lists != nil {
		lists[coord.Parent(path)] = true
	}
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
}

// run reads what it is asked for, and all of what is new below. Nodes that turn out to
// be gone have their parents added to lists.
func (f *follower) run(errands []errand, lists map[string]bool) error {
	if len(errands) == 0 {
		return nil
	}
	b := &burst{f: f, errands: errands, lists: lists, over: make(chan struct{}), readers: 1}
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
		found, err := b.f.read(client, next)
		b.mu.Lock()
		b.running--
		switch {
		case b.ended:
			return
		case err != nil:
			b.endLocked(err)
			return
		}
		b.errands = b.f.fold(found, b.errands, b.lists)
	}
	b.readers--
	if b.running == 0 && len(b.errands) == 0 {
		b.endLocked(nil)
	}
}

// fold puts what was read into the tree, and adds what has to be read for it.
func (f *follower) fold(found finding, errands []errand, lists map[string]bool) []errand {
	if found.value && found.path != "" {
		if found.node.Path == "" {
			f.remove(found.path, lists)
			return errands
		}
		known, ok := f.tree.Get(found.path)
		another := !ok || known.Created != found.node.Created
		if another && !found.children {
			// The one that was known is gone, and the watch on its children may be
			// too: this one has to be read with its children.
			return append(errands, errand{path: found.path, value: true, children: true})
		}
		if another {
			f.tree.Delete(found.path)
		}
		f.tree.Put(found.node)
		f.dirty = true
	}
	for _, name := range found.names {
		child := coord.Join(found.path, name)
		if _, ok := f.tree.Get(child); !ok {
			errands = append(errands, errand{path: child, value: true, children: true})
		}
	}
	return errands
}

// read reads one node, and sets watches.
func (f *follower) read(client *zookeeper.Conn, e errand) (finding, error) {
	found := finding{errand: e}
	full := f.v.r.full(e.path)
	path := full[len(full)-len(e.path):] // shares what the watch holds anyway
	if e.value && e.path != "" {
		value, stat, _, err := client.GetW(full)
		if errors.Is(err, zookeeper.ErrNoNode) {
			return found, f.watchForRoot(client, e.path)
		}
		if err != nil {
			return found, err
		}
		found.node = newNode(path, value, stat)
		if found.node.Ephemeral() {
			return found, nil
		}
	}
	if !e.children {
		return found, nil
	}
	names, _, _, err := client.ChildrenW(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		return found, f.watchForRoot(client, e.path) // of another node's end its own watch tells
	}
	found.names = names
	return found, err
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

// same reports whether two states of a subtree hold the same nodes.
func same(a, b coord.Snapshot, root string) bool {
	if a.Len() != b.Len() {
		return false
	}
	for n := range a.All(root) {
		other, ok := b.Get(n.Path)
		if !ok || other.Created != n.Created || other.Modified != n.Modified {
			return false
		}
	}
	return true
}
