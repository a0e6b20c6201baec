package doctor

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// child is what lies below one child of the namespace. Its error is a denial: then the snapshot has
// only what could be read before.
type child struct {
	name string
	tree coord.Snapshot
	err  error
}

// own is the child of the namespace that belongs to no job.
const own = "~elasticjob"

// children walks the whole namespace once, and yields its children one after the other, except for
// own. It holds one of them, and those whose names begin with its name: of the nodes a, a-b and a/b
// the second comes between those of a.
func children(ctx context.Context, reg coord.Registry) iter.Seq2[child, error] {
	return func(yield func(child, error) bool) {
		var open []*opened // each name is the beginning of the next one
		closeUpTo := func(path string) bool {
			for n := len(open); n > 0 && path >= open[n-1].name+afterSlash; n-- {
				last := open[n-1]
				open = open[:n-1]
				if !yield(last.child(), nil) {
					return false
				}
			}
			return true
		}
		for n, err := range reg.Walk(ctx, "") {
			if err != nil {
				yield(child{}, err)
				return
			}
			if !closeUpTo(n.Path) {
				return
			}
			name, _, _ := strings.Cut(n.Path, "/")
			if name == "" || name == own {
				continue
			}
			at := openAt(open, name)
			if at == nil {
				at = &opened{name: name, tree: coord.NewTree(jobtree.SharedBounds())}
				open = append(open, at)
			}
			if !at.tree.Offer(n) {
				at.tree.LeaveOut(n.Path, 1)
			}
		}
		closeUpTo(afterAll)
	}
}

const (
	// afterSlash, put behind a name, sorts after the paths of all nodes below it.
	afterSlash = "0"
	// afterAll sorts after all paths: no UTF-8 string has the byte 0xff.
	afterAll = "\xff"
)

// opened is a child of which more may come.
type opened struct {
	name string
	tree *coord.Tree
}

func (o *opened) child() child { return child{name: o.name, tree: o.tree.Snapshot()} }

func openAt(open []*opened, name string) *opened {
	for _, o := range open {
		if o.name == name {
			return o
		}
	}
	return nil
}

// named reads some children one by one. It leaves those out that are not there. One whose name cannot
// be that of a path is not read.
func named(ctx context.Context, reg coord.Registry, names []string) iter.Seq2[child, error] {
	return func(yield func(child, error) bool) {
		for _, name := range names {
			tree, err := subtree(ctx, reg, name)
			c := child{name: name, tree: tree}
			if errors.Is(err, coord.ErrDenied) || errors.Is(err, coord.ErrInvalidPath) {
				c.err, err = err, nil
			}
			if err == nil && c.err == nil && !tree.Exists(name) {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// subtree reads a node and what lies below it.
func subtree(ctx context.Context, reg coord.Registry, root string) (coord.Snapshot, error) {
	tree := coord.NewTree(jobtree.SharedBounds())
	for n, err := range reg.Walk(ctx, root) {
		if err != nil {
			return tree.Snapshot(), err
		}
		if !tree.Offer(n) {
			tree.LeaveOut(n.Path, 1)
		}
	}
	return tree.Snapshot(), nil
}
