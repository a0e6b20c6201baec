package migrate

import (
	"context"

	"github.com/elasticjob-go/elasticjob/coord"
)

// writer writes in as few commits as the store takes, each on the same conditions.
type writer struct {
	reg     coord.Registry
	guards  []coord.Op
	ops     []coord.Op
	size    int
	written func(ops int) // is told after each commit; may be nil
}

func (w *writer) add(ctx context.Context, op coord.Op) error {
	size := len(op.Path) + len(op.Value)
	if coord.Cost(w.ops...)+coord.Cost(op)+coord.Cost(w.guards...) > coord.MaxOps || w.size+size > maxNode {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.ops, w.size = append(w.ops, op), w.size+size
	return nil
}

func (w *writer) flush(ctx context.Context) error {
	if len(w.ops) == 0 {
		return nil
	}
	if _, err := w.reg.Commit(ctx, append(w.ops, w.guards...)...); err != nil {
		return err
	}
	if w.written != nil {
		w.written(len(w.ops))
	}
	w.ops, w.size = w.ops[:0], 0
	return nil
}
