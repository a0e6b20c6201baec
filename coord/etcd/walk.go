package etcd

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Walk implements [coord.Registry]. All pages are of one revision. So a walk that takes longer
// than the store keeps old revisions ends with ErrCompacted.
func (r *Registry) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		if err := coord.ValidateRoot(path); err != nil {
			yield(coord.Node{}, fmt.Errorf("etcd: walk: %w", err))
			return
		}
		what := fmt.Sprintf("walk %q", path)
		err := r.walk(ctx, what, path, func(n coord.Node) bool { return yield(n, nil) })
		if errors.Is(err, errCompacted) {
			err = fmt.Errorf("etcd: %s: %w", what, coord.ErrCompacted)
		}
		if err != nil {
			yield(coord.Node{}, err)
		}
	}
}

// walk reads a subtree, and visits each node until visit returns false. It returns no error
// then.
func (r *Registry) walk(ctx context.Context, what, path string, visit func(coord.Node) bool) error {
	var revision int64
	if path != "" {
		read, err := r.get(ctx, what, r.keys.key(path))
		if err != nil {
			return err
		}
		revision = read.Header.Revision
		if len(read.Kvs) > 0 && !visit(newNode(path, read.Kvs[0])) {
			return nil
		}
	}
	_, err := r.scan(ctx, what, r.keys.below(path), scanOptions{revision: revision}, func(kv *mvccpb.KeyValue) string {
		p, ok := r.keys.path(kv.Key)
		switch {
		case !ok:
			return r.keys.prefix + afterSlash // skip the keys of sessions
		case !visit(newNode(p, kv)):
			return stopScan
		}
		return ""
	})
	return err
}
