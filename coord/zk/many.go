package zk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// GetAll implements [coord.Registry]. A server reads nodes one by one. So it gets as many requests at a time as from a
// walk, and catches up with the leader once for a page of nodes.
func (r *Registry) GetAll(ctx context.Context, paths []string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		for some := range slices.Chunk(paths, walkPage) {
			nodes, errs := make([]coord.Node, len(some)), make([]error, len(some))
			failed := r.getMany(ctx, some, nodes, errs)
			for i, path := range some {
				err := cmp.Or(errs[i], failed)
				switch {
				case errors.Is(err, coord.ErrInvalidPath):
					err = fmt.Errorf("zk: get: %w", err)
				case err != nil:
					err = fmt.Errorf("zk: get %w", convertError(err, path))
				}
				if !yield(nodes[i], err) {
					return
				}
			}
		}
	}
}

// getMany reads nodes. errs gets what concerns a single node. The error that is returned concerns all of them.
func (r *Registry) getMany(ctx context.Context, paths []string, nodes []coord.Node, errs []error) error {
	_, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) (string, error) { return client.Sync(r.root) })
	if err != nil {
		return err
	}
	return r.parallel(ctx, walkers, len(paths), func(client *zookeeper.Conn, i int) error {
		if errs[i] = coord.ValidatePath(paths[i]); errs[i] != nil {
			return nil
		}
		value, stat, err := client.Get(r.full(paths[i]))
		switch {
		case err == nil:
			nodes[i] = newNode(paths[i], value, stat)
		case isLost(err):
			return err
		default:
			errs[i] = err
		}
		return nil
	})
}
