package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/internal/either"
)

// view is the target of a watcher that keeps a tree.
type view struct {
	registry *Registry
	path     string
	bounds   []coord.Bounds
	watcher  *watcher
	ctx      context.Context // ends with the view; its cause is Err
	end      context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool // nothing changes any more
	tree    *levels
	changed broadcast.Signal // the tree or the fault, or the view has ended
}

var (
	_ coord.View = (*view)(nil)
	_ target     = (*view)(nil)
)

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	if err := cmp.Or(coord.ValidateRoot(path), coord.ValidateDepth(depth)); err != nil {
		return nil, fmt.Errorf("etcd: view %q: %w", path, err)
	}
	v := &view{registry: r, path: path, bounds: bounds, tree: newLevels(path, depth, bounds...)}
	v.ctx, v.end = context.WithCancelCause(r.ctx)
	v.watcher = newWatcher(v.ctx, r, r.keys.around(path), v)
	if err := v.watcher.open(ctx); err != nil {
		v.end(err)
		return nil, err
	}
	return v, nil
}

// String implements target.
func (v *view) String() string { return "view " + strconv.Quote(v.path) }

// Snapshot implements [coord.View].
func (v *view) Snapshot() coord.Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tree.Snapshot()
}

// Changed implements [coord.View].
func (v *view) Changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed.Next()
}

// Sync implements [coord.View].
func (v *view) Sync(ctx context.Context) error {
	if err := v.Err(); err != nil {
		return err
	}
	ctx, cancel := either.Context(ctx, v.ctx)
	defer cancel()
	what := "sync " + v.String()
	newest, err := v.registry.readHeader(ctx, what)
	if err != nil {
		return err
	}
	// The header may show that the store was restored.
	if err := v.registry.verify(ctx); err != nil {
		return err
	}
	if err := v.watcher.awaitRevision(ctx, newest.Header.Revision); err != nil {
		return fmt.Errorf("etcd: %s: %w", what, err)
	}
	return nil
}

// Err implements [coord.View].
func (v *view) Err() error { return context.Cause(v.ctx) }

// Close implements [coord.View].
func (v *view) Close() {
	v.watcher.stop(fmt.Errorf("etcd: %s: %w", v, coord.ErrClosed))
}

// ended implements target.
func (v *view) ended(err error) {
	v.end(err)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed.Close()
	v.closed = true
}

// load implements target.
func (v *view) load(ctx context.Context, trusted int64) (int64, error) {
	for {
		revision, err := v.read(ctx, trusted)
		if !errors.Is(err, errCompacted) {
			return revision, err
		}
	}
}

// read reads the subtree at one revision, and changes the tree by what differs. If nothing differs
// nobody is woken.
func (v *view) read(ctx context.Context, trusted int64) (revision int64, err error) {
	r := v.registry
	before := r.identity.now()
	old := v.Snapshot()
	var written []coord.Node
	var kept []string                                     // paths of nodes that have not changed
	known, rewritten := 0, false                          // known counts nodes of the tree that still exist
	fresh := newLevels(v.path, v.tree.depth, v.bounds...) // only to count what lies deeper
	seen, left := map[string]int{}, map[string]int{}      // nodes that are held, and those without room, by their group
	large := coord.NewTree(v.bounds...)                   // so that what the view will not hold is not held here either
	visit := func(kv *mvccpb.KeyValue) {
		path, ok := r.keys.path(kv.Key)
		if !ok {
			return // the key of a session
		}
		if parent, deeper := fresh.parent(path); deeper {
			fresh.add(parent)
			return
		}
		if fresh.depth != coord.AllLevels {
			fresh.Offer(coord.Node{Path: path, Created: kv.CreateRevision})
		}
		n, there := old.Get(path)
		if there = there && n.Modified != 0; there {
			known++
		}
		if group, most := v.tree.Group(path); group != "" {
			if !there && seen[group] >= most {
				left[group]++
				return
			}
			seen[group]++
		}
		if there && n.Modified == kv.ModRevision && n.Holds(kv.Value) {
			kept = append(kept, n.Path)
			return
		}
		n = newNode(path, kv)
		if len(n.Value) > coord.AlwaysHeld {
			n = large.Put(n)
		}
		written = append(written, n)
		// Every event up to the revision trusted was applied. So a value of such a revision that the
		// view does not have comes from another store.
		rewritten = rewritten || kv.ModRevision <= trusted
	}
	if revision, err = r.scanTree(ctx, v.String(), v.path, func(kv *mvccpb.KeyValue) string { visit(kv); return "" }); err != nil {
		return 0, err
	}
	if rewritten {
		r.handleRestore(before, storeState{before.cluster, before.term, revision})
	}
	for parent := range fresh.below {
		if n, _ := fresh.Get(parent); n.Created != 0 {
			continue // it was written itself
		}
		n, there := old.Get(parent)
		if there && n.Created == 0 {
			kept = append(kept, parent)
		} else {
			written = append(written, coord.Node{Path: parent})
		}
		if there {
			known++
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for group, nodes := range fresh.Snapshot().LeftOut() {
		left[group] += nodes
	}
	isCounted := maps.Equal(left, maps.Collect(old.LeftOut()))
	v.tree.SetLeftOut(left)
	v.tree.below = fresh.below
	if v.closed || len(written) == 0 && known == old.Len() && isCounted {
		return revision, nil
	}
	if known < old.Len() {
		there := make(map[string]bool, len(kept)+len(written))
		for _, path := range kept {
			there[path] = true
		}
		for _, n := range written {
			there[n.Path] = true
		}
		for n := range old.All("") {
			if !there[n.Path] {
				v.tree.Delete(n.Path)
			}
		}
	}
	for _, n := range written {
		v.tree.Put(n)
	}
	v.changed.Fire()
	return revision, nil
}

// apply implements target.
func (v *view) apply(events []*mvccpb.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	changed := false
	for _, event := range events {
		path, ok := v.registry.keys.path(event.Kv.Key)
		if !ok || !coord.Within(path, v.path) || v.closed {
			continue
		}
		if event.Type == mvccpb.Event_DELETE {
			changed = v.tree.remove(path) || changed
		} else if parent, deeper := v.tree.parent(path); !deeper {
			if n := newNode(path, event.Kv); !v.tree.Offer(n) && n.Created == n.Modified {
				v.tree.LeaveOut(path, 1)
			}
			changed = true
		} else if event.Kv.CreateRevision == event.Kv.ModRevision {
			changed = v.tree.add(parent) || changed
		}
	}
	if changed {
		v.changed.Fire()
	}
	return nil
}

// faultChanged implements target.
func (v *view) faultChanged() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed.Fire()
}

// Fault implements [coord.View].
func (v *view) Fault() error { return v.watcher.Fault() }
