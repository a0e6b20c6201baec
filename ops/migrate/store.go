package migrate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

const (
	// attempts bounds how often a step is tried again in a row.
	attempts = 10
	// firstPause and lastPause bound the wait before the next attempt.
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// patiently does a step again if the tree has changed under it, if it is not known what has become
// of it, or if the store is away. A step looks at the tree first.
func patiently(ctx context.Context, step func() error) error {
	pause := firstPause
	var err error
	for range attempts {
		if err = takenOver(step()); !isPassing(err) {
			return err
		}
		if !rest.For(ctx, pause/2+rand.N(pause/2)) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		pause = min(2*pause, lastPause)
	}
	return err
}

// isPassing reports whether an error may not come again.
func isPassing(err error) bool {
	if errors.Is(err, ErrTakenOver) || errors.Is(err, ErrRefused) {
		return false
	}
	for _, passing := range []error{coord.ErrConflict, coord.ErrUnknownOutcome, coord.ErrUnavailable, coord.ErrCompacted} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// takenOver returns ErrTakenOver for the conflict of a commit whose condition was the version of a mark.
func takenOver(err error) error {
	conflict, ok := errors.AsType[*coord.ConflictError](err)
	if ok && conflict.Op.Kind == coord.OpAtVersion && coord.Parent(conflict.Op.Path) == jobtree.Migrations {
		return fmt.Errorf("%w: %w", ErrTakenOver, err)
	}
	return err
}

// get reads a node. One that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
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
