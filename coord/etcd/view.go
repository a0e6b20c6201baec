package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// view is a follower that keeps a tree.
type view struct {
	registry *Registry
	path     string
	depth    int
	what     string
	follower *follower
	ctx      context.Context // ends with the view; its cause is Err
	end      context.CancelCauseFunc
	done     chan struct{} // closed when nothing runs any more

	mu      sync.Mutex
	tree    *levels        // nil before it was read once
	current coord.Snapshot // of the tree
	stale   bool           // the tree has changed since current was taken
	changed chan struct{}  // closed when the tree or the fault changes, and when the view ends
}

var _ coord.View = (*view)(nil)

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
	v := &view{
		registry: r,
		path:     path,
		depth:    depth,
		what:     fmt.Sprintf("view %q", path),
		done:     make(chan struct{}),
		changed:  make(chan struct{}),
	}
	v.ctx, v.end = context.WithCancelCause(r.ctx)
	v.follower = newFollower(r, v.what, r.keys.around(path), v.load, v.apply)
	v.follower.tryOnce, v.follower.onFault = true, v.tell
	changed := v.changed // closed when the tree was read for the first time, or the view has ended
	if !r.start(v.run) {
		return nil, fmt.Errorf("etcd: %s: %w", v.what, coord.ErrClosed)
	}
	select {
	case <-changed:
	case <-ctx.Done():
		v.Close()
		return nil, fmt.Errorf("etcd: %s: %w", v.what, context.Cause(ctx))
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *view) run() {
	defer close(v.done)
	v.end(v.follower.run(v.ctx))
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.changed)
}

// Snapshot implements [coord.View].
func (v *view) Snapshot() coord.Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stale {
		v.current, v.stale = v.tree.Snapshot(), false
	}
	return v.current
}

// Changed implements [coord.View].
func (v *view) Changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
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
	what := "sync " + v.what
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
	v.end(fmt.Errorf("etcd: %s: %w", v.what, coord.ErrClosed))
	<-v.done
}

// load reads the subtree at one revision and replaces the tree. Nodes that have not changed
// keep their memory. If nothing has changed nobody is woken.
func (v *view) load(ctx context.Context) (int64, error) {
	for {
		revision, err := v.read(ctx)
		if !errors.Is(err, errCompacted) {
			return revision, err
		}
	}
}

func (v *view) read(ctx context.Context) (revision int64, err error) {
	r := v.registry
	before, applied := r.sighting.now(), int64(0)
	if up, suspect := v.follower.suspicion(); suspect {
		applied = up
	}
	old, tree := v.Snapshot(), newLevels(v.path, v.depth)
	same, rewritten := true, false
	put := func(kv *mvccpb.KeyValue) {
		path, ok := r.keys.path(kv.Key)
		if !ok {
			return
		}
		if parent, deeper := tree.parent(path); deeper {
			if tree.add(parent) {
				n, known := old.Get(parent)
				same = same && known && n.Created == 0
			}
			return
		}
		n, known := old.Get(path)
		if !known || n.Modified != kv.ModRevision || !bytes.Equal(n.Value, kv.Value) {
			n, same = newNode(path, kv), false
			// Everything up to this revision had been applied. So the view had seen
			// this value if it came from the same store.
			rewritten = rewritten || kv.ModRevision <= applied
		}
		tree.Put(n)
	}
	if v.path != "" {
		var read *clientv3.GetResponse
		err := r.request(ctx, v.what, func(ctx context.Context) (err error) {
			read, err = r.client.Get(ctx, r.keys.key(v.path))
			return err
		})
		if err != nil {
			return 0, err
		}
		revision = read.Header.Revision
		for _, kv := range read.Kvs {
			put(kv)
		}
	}
	revision, err = r.scan(ctx, v.what, r.keys.below(v.path), scanOptions{revision: revision}, func(kv *mvccpb.KeyValue) string {
		put(kv)
		return ""
	})
	if err != nil {
		return 0, err
	}
	if rewritten {
		r.startAnew(before, horizon{before.cluster, before.term, revision})
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if first := v.tree == nil; first || !same || tree.Snapshot().Len() != old.Len() {
		v.tree = tree
		v.publishLocked()
	} else {
		v.tree.below = tree.below // what is not shown may have changed
	}
	return revision, nil
}

// apply changes the tree by whole revisions, so that no snapshot shows only a part of one.
func (v *view) apply(events []*clientv3.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	touched := false
	for _, event := range events {
		path, ok := v.registry.keys.path(event.Kv.Key)
		if !ok || !coord.Within(path, v.path) {
			continue
		}
		if event.Type == mvccpb.Event_DELETE {
			touched = v.tree.remove(path) || touched
		} else if parent, deeper := v.tree.parent(path); !deeper {
			v.tree.Put(newNode(path, event.Kv))
			touched = true
		} else if event.IsCreate() {
			touched = v.tree.add(parent) || touched
		}
	}
	if touched {
		v.publishLocked()
	}
	return nil
}

func (v *view) publishLocked() {
	v.stale = true
	v.tellLocked()
}

// tell wakes those who wait for a change.
func (v *view) tell() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tellLocked()
}

func (v *view) tellLocked() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// Fault implements [coord.View].
func (v *view) Fault() error { return v.follower.Fault() }
