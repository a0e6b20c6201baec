package migrate

import (
	"context"
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// isPassing reports whether an error may not come again: the tree has changed under the pass, it is not known
// what has become of a commit, or the store is away.
func isPassing(err error) bool {
	is := func(one error) bool { return errors.Is(err, one) }
	return !slices.ContainsFunc([]error{ErrTakenOver, ErrRefused, ErrDiffers, ErrSetUpAgain}, is) &&
		slices.ContainsFunc([]error{coord.ErrConflict, coord.ErrUnknownOutcome, coord.ErrUnavailable, coord.ErrCompacted}, is)
}

// get reads a node. One that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
}

// getAll reads nodes, in the order of the paths. One that is not there is the zero Node.
func getAll(ctx context.Context, reg coord.Registry, paths []string) ([]coord.Node, error) {
	nodes := make([]coord.Node, 0, len(paths))
	for n, err := range reg.GetAll(ctx, paths) {
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// list reads the children of a node, which need not be there.
func list(ctx context.Context, reg coord.Registry, path string) ([]coord.Node, error) {
	nodes, err := reg.List(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return nil, nil
	}
	return nodes, err
}

// read reads a node and all below it.
func read(ctx context.Context, reg coord.Registry, path string) (*coord.Tree, error) {
	tree := coord.NewTree()
	for n, err := range reg.Walk(ctx, path) {
		if err != nil {
			return nil, err
		}
		tree.Put(n)
	}
	return tree, nil
}

// writer writes in as few commits as the store takes.
type writer struct {
	*side
	ops     []coord.Op
	size    int
	written func(ops int) // is told after each commit; may be nil
}

// add adds operations that belong together.
func (w *writer) add(ctx context.Context, ops ...coord.Op) error {
	size := 0
	for _, op := range ops {
		size += len(op.Path) + len(op.Value)
	}
	if coord.Cost(w.ops...)+coord.Cost(ops...)+coord.Cost(w.held()) > coord.MaxOps || w.size+size > maxNode {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.ops, w.size = append(w.ops, ops...), w.size+size
	return nil
}

func (w *writer) flush(ctx context.Context) error {
	if len(w.ops) == 0 {
		return nil
	}
	if _, err := w.Commit(ctx, append(w.ops, w.held())...); err != nil {
		return err
	}
	if w.written != nil {
		w.written(len(w.ops))
	}
	w.ops, w.size = w.ops[:0], 0
	return nil
}
