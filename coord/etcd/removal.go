package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// removal is the target of a follower that waits until a key is removed.
type removal struct {
	registry *Registry
	key      string
	created  int64 // the CreateRevision of the key that is meant; 0 means any
	ended    chan error
}

// awaitRemoval returns nil once a key is removed. created is the CreateRevision of the key
// that is meant; 0 means any. It returns an error if ctx ends and, with endOnDenial, if the
// key may not be read.
func (r *Registry) awaitRemoval(ctx context.Context, key string, created int64, endOnDenial bool) error {
	w := &removal{registry: r, key: key, created: created, ended: make(chan error, 1)}
	f := newFollower(ctx, r, keyRange{key, key + "\x00"}, w)
	f.endOnDenial = endOnDenial
	if !f.begin() {
		return fmt.Errorf("etcd: %s: %w", w, context.Cause(r.ctx))
	}
	defer context.AfterFunc(ctx, func() { f.stop(fmt.Errorf("etcd: %s: %w", w, context.Cause(ctx))) })()
	if err := <-w.ended; !errors.Is(err, errRemoved) {
		return err
	}
	return nil
}

var errRemoved = fmt.Errorf("%w: the key was removed", errFinal)

func (w *removal) String() string { return "watch " + w.key }

func (w *removal) load(ctx context.Context, _ int64) (int64, error) {
	var read *clientv3.GetResponse
	err := w.registry.request(ctx, w.String(), func(ctx context.Context) (err error) {
		read, err = w.registry.client.Get(ctx, w.key, clientv3.WithKeysOnly())
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case len(read.Kvs) == 0 || w.created != 0 && read.Kvs[0].CreateRevision != w.created:
		return 0, errRemoved
	}
	return read.Header.Revision, nil
}

func (w *removal) apply(events []*mvccpb.Event) error {
	for _, e := range events {
		if e.Type == mvccpb.Event_DELETE {
			return errRemoved
		}
	}
	return nil
}

func (w *removal) faultChanged() {}

func (w *removal) over(err error) { w.ended <- err }
