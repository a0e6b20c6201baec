package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// removal is the target of a watcher that waits until a key is removed.
type removal struct {
	registry *Registry
	key      string
	err      chan error
}

// awaitRemoval returns nil once a key is removed, and an error if ctx ends.
func (r *Registry) awaitRemoval(ctx context.Context, key string) error {
	t := &removal{registry: r, key: key, err: make(chan error, 1)}
	w := newWatcher(ctx, r, keyRange{key, key + "\x00"}, t)
	if !w.openInBackground() {
		return fmt.Errorf("etcd: %s: %w", t, context.Cause(r.ctx))
	}
	defer context.AfterFunc(ctx, func() { w.stop(fmt.Errorf("etcd: %s: %w", t, context.Cause(ctx))) })()
	if err := <-t.err; !errors.Is(err, errRemoved) {
		return err
	}
	return nil
}

var errRemoved = fmt.Errorf("%w: the key was removed", errFinal)

func (t *removal) String() string { return "watch " + t.key }

func (t *removal) load(ctx context.Context, _ int64) (int64, error) {
	read, err := t.registry.get(ctx, t.String(), t.key, clientv3.WithKeysOnly())
	switch {
	case err != nil:
		return 0, err
	case len(read.Kvs) == 0:
		return 0, errRemoved
	}
	return read.Header.Revision, nil
}

func (t *removal) apply(events []*mvccpb.Event) error {
	for _, e := range events {
		if e.Type == mvccpb.Event_DELETE {
			return errRemoved
		}
	}
	return nil
}

func (t *removal) faultChanged() {}

func (t *removal) ended(err error) { t.err <- err }
