package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// walkPage is how many nodes a page of a walk has.
const walkPage = 256

// Walk implements [coord.Registry]. The first page fixes what is read; the others pass the
// link only.
func (r *Registry) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		if err := coord.ValidateRoot(path); err != nil {
			yield(coord.Node{}, fmt.Errorf("memory: walk: %w", err))
			return
		}
		c := call{method: Walk, path: path}
		var snapshot coord.Snapshot
		err := r.call(ctx, c, func() error {
			snapshot = r.ns.snapshot()
			return nil
		})
		if err != nil {
			yield(coord.Node{}, err)
			return
		}
		nodes := slices.SortedFunc(snapshot.All(path), func(a, b coord.Node) int { return strings.Compare(a.Path, b.Path) })
		for i, n := range nodes {
			if i > 0 && i%walkPage == 0 {
				if err := r.call(ctx, c, func() error { return nil }); err != nil {
					yield(coord.Node{}, err)
					return
				}
			}
			if !yield(n, nil) {
				return
			}
		}
	}
}
