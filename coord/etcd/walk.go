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
		_, err := r.scanTree(ctx, what, path, func(kv *mvccpb.KeyValue) string {
			p, ok := r.keys.path(kv.Key)
			switch {
			case !ok:
				return r.keys.prefix + afterSlash // skip the keys of sessions
			case !yield(newNode(p, kv), nil):
				return stopScan
			}
			return ""
		})
		if errors.Is(err, errCompacted) {
			err = fmt.Errorf("etcd: %s: %w", what, coord.ErrCompacted)
		}
		if err != nil {
			yield(coord.Node{}, err)
		}
	}
}
