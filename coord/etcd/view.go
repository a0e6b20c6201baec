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
	what     string
	follower *follower
	ctx      context.Context // ends with the view; its cause is Err
	end      context.CancelCauseFunc
	done     chan struct{} // closed when nothing runs any more

	mu      sync.Mutex
	tree    *coord.Tree    // nil before it was read once
	current coord.Snapshot // of tree
	stale   bool           // current is older than tree
	changed chan struct{}  // closed when tree or the fault changes, or the view has ended
}

var _ coord.View = (*view)(nil)

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string) (coord.View, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("etcd: view: %w", err)
	}
	v := &view{
		registry: r,
		path:     path,
		what:     fmt.Sprintf("view %q", path),
		done:     make(chan struct{}),
		changed:  make(chan struct{}),
	}
	v.ctx, v.end = context.WithCancelCause(r.ctx)
	v.follower = newFollower(r, v.what, r.keys.around(path), v.load, v.apply)
	v.follower.impatient, v.follower.told = true, v.tell
	changed := v.changed // which closes when the tree was read, or could not be
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
	// Its header may have told that the store was put back.
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

// load reads the subtree at one revision and puts it in the place of the tree. What has
// not changed keeps its memory, and if nothing has, nobody is told.
func (v *view) load(ctx context.Context) (int64, error) {
	for {
		revision, err := v.read(ctx)
		if !errors.Is(err, errForgotten) {
			return revision, err
		}
	}
}

func (v *view) read(ctx context.Context) (revision int64, err error) {
	r := v.registry
	before, at := r.sighting.now(), int64(0)
	if known, questioned := v.follower.questioned(); questioned {
		at = known
	}
	old, tree := v.Snapshot(), coord.NewTree()
	same, count, rewritten := true, 0, false
	put := func(kv *mvccpb.KeyValue) {
		path, ok := r.keys.path(kv.Key)
		if !ok {
			return
		}
		n, known := old.Get(path)
		if !known || n.Modified != kv.ModRevision || !bytes.Equal(n.Value, kv.Value) {
			n, same = newNode(path, kv), false
			// What was written by then and is still there was seen as it is.
			rewritten = rewritten || kv.ModRevision <= at
		}
		tree.Put(n)
		count++
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
	if first := v.tree == nil; first || !same || count != old.Len() {
		v.tree = tree
		v.publishLocked()
	}
	return revision, nil
}

// apply changes the tree by whole revisions, so that no snapshot has a part of one.
func (v *view) apply(events []*clientv3.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	touched := false
	for _, event := range events {
		path, ok := v.registry.keys.path(event.Kv.Key)
		if !ok || !coord.Within(path, v.path) {
			continue
		}
		touched = true
		if event.Type == mvccpb.Event_DELETE {
			v.tree.Delete(path)
		} else {
			v.tree.Put(newNode(path, event.Kv))
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

// tell wakes whoever waits for a change.
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
