package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// view is the target of a follower that keeps a tree.
type view struct {
	registry *Registry
	path     string
	follower *follower
	ctx      context.Context // ends with the view; its cause is Err
	end      context.CancelCauseFunc

	mu      sync.Mutex
	ended   bool // nothing changes any more
	tree    *levels
	changed chan struct{} // closed when the tree or the fault changes, and when the view ends; nil if nobody has asked for it
}

var (
	_ coord.View = (*view)(nil)
	_ target     = (*view)(nil)
)

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string) (coord.View, error) {
	return r.view(ctx, path, wholeDepth)
}

// ViewDepth implements [coord.Registry].
func (r *Registry) ViewDepth(ctx context.Context, path string, depth int) (coord.View, error) {
	if err := coord.ValidateDepth(depth); err != nil {
		return nil, fmt.Errorf("etcd: view %q: %w", path, err)
	}
	return r.view(ctx, path, depth)
}

func (r *Registry) view(ctx context.Context, path string, depth int) (coord.View, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("etcd: view: %w", err)
	}
	v := &view{registry: r, path: path, tree: newLevels(path, depth)}
	v.ctx, v.end = context.WithCancelCause(r.ctx)
	v.follower = newFollower(v.ctx, r, r.keys.around(path), v)
	if err := v.follower.open(ctx); err != nil {
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
	if v.changed == nil {
		v.changed = make(chan struct{})
		if v.ended {
			close(v.changed)
		}
	}
	return v.changed
}

// Sync implements [coord.View].
func (v *view) Sync(ctx context.Context) error {
	if err := v.Err(); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(v.ctx, func() { end(v.Err()) })()
	what := "sync " + v.String()
	newest, err := v.registry.head(ctx, what)
	if err != nil {
		return err
	}
	// The header may have raised a doubt whether the store was put back.
	if err := v.registry.verify(ctx); err != nil {
		return err
	}
	if err := v.follower.reach(ctx, newest.Header.Revision); err != nil {
		return fmt.Errorf("etcd: %s: %w", what, err)
	}
	return nil
}

// Err implements [coord.View].
func (v *view) Err() error { return context.Cause(v.ctx) }

// Close implements [coord.View].
func (v *view) Close() {
	v.follower.stop(fmt.Errorf("etcd: %s: %w", v, coord.ErrClosed))
}

// over implements target.
func (v *view) over(err error) {
	v.end(err)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tellLocked()
	v.ended = true
}

// load reads the subtree at one revision, and changes the tree by what differs. If nothing
// has changed nobody is woken.
func (v *view) load(ctx context.Context, trusted int64) (int64, error) {
	for {
		revision, err := v.read(ctx, trusted)
		if !errors.Is(err, errCompacted) {
			return revision, err
		}
	}
}

func (v *view) read(ctx context.Context, trusted int64) (revision int64, err error) {
	r := v.registry
	before := r.sighting.now()
	old := v.Snapshot()
	var written []coord.Node
	var kept []string // paths of nodes that have not changed
	known, rewritten := 0, false
	fresh := newLevels(v.path, v.tree.depth) // only to count what lies deeper
	visit := func(kv *mvccpb.KeyValue) string {
		path, ok := r.keys.path(kv.Key)
		if !ok {
			return ""
		}
		if parent, deeper := fresh.parent(path); deeper {
			fresh.add(parent)
			return ""
		}
		if fresh.depth != wholeDepth {
			fresh.Put(coord.Node{Path: path, Created: kv.CreateRevision})
		}
		n, there := old.Get(path)
		if there = there && n.Modified != 0; there {
			known++
		}
		if there && n.Modified == kv.ModRevision && bytes.Equal(n.Value, kv.Value) {
			kept = append(kept, n.Path)
			return ""
		}
		written = append(written, newNode(path, kv))
		// Everything up to this revision had been applied. So the view had seen this value if
		// it came from the same store.
		rewritten = rewritten || kv.ModRevision <= trusted
		return ""
	}
	if revision, err = v.scan(ctx, visit); err != nil {
		return 0, err
	}
	if rewritten {
		r.startAnew(before, horizon{before.cluster, before.term, revision})
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
	v.tree.below = fresh.below
	if v.ended || len(written) == 0 && known == old.Len() {
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
	v.tellLocked()
	return revision, nil
}

// scan reads the node and everything below it at one revision: mostly in one request.
func (v *view) scan(ctx context.Context, visit func(*mvccpb.KeyValue) string) (int64, error) {
	r := v.registry
	below := r.keys.below(v.path)
	if v.path == "" {
		return r.scan(ctx, v.String(), below, scanOptions{}, visit)
	}
	var read *clientv3.TxnResponse
	err := r.request(ctx, v.String(), func(ctx context.Context) (err error) {
		for retry := newRetry(); ; { // the client repeats reads by itself, but no transactions
			read, err = r.client.Txn(ctx).Then(
				clientv3.OpGet(r.keys.key(v.path)),
				clientv3.OpGet(below.from, clientv3.WithRange(below.to), clientv3.WithLimit(firstPage)),
			).Commit()
			if err == nil || kindOf(err) != coord.ErrUnavailable || !retry.wait(ctx) {
				return err
			}
		}
	})
	if err != nil {
		return 0, err
	}
	revision := read.Header.Revision
	for _, kv := range read.Responses[0].GetResponseRange().Kvs {
		visit(kv)
	}
	page := (*clientv3.GetResponse)(read.Responses[1].GetResponseRange())
	return r.scan(ctx, v.String(), below, scanOptions{revision: revision, page: page}, visit)
}

// apply implements target. It changes the tree by whole revisions, so that no snapshot shows
// only a part of one.
func (v *view) apply(events []*mvccpb.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	touched := false
	for _, event := range events {
		path, ok := v.registry.keys.path(event.Kv.Key)
		if !ok || !coord.Within(path, v.path) || v.ended {
			continue
		}
		if event.Type == mvccpb.Event_DELETE {
			touched = v.tree.remove(path) || touched
		} else if parent, deeper := v.tree.parent(path); !deeper {
			v.tree.Put(newNode(path, event.Kv))
			touched = true
		} else if event.Kv.CreateRevision == event.Kv.ModRevision {
			touched = v.tree.add(parent) || touched
		}
	}
	if touched {
		v.tellLocked()
	}
	return nil
}

// faultChanged implements target.
func (v *view) faultChanged() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tellLocked()
}

// tellLocked wakes those who wait for a change.
func (v *view) tellLocked() {
	if v.changed != nil && !v.ended {
		close(v.changed)
		v.changed = nil
	}
}

// Fault implements [coord.View].
func (v *view) Fault() error { return v.follower.Fault() }
