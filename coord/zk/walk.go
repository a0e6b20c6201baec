package zk

import (
	"context"
	"errors"
	"fmt"
	"iter"

	zookeeper "github.com/go-zookeeper/zk"
	"github.com/google/btree"

	"github.com/elasticjob-go/elasticjob/coord"
)

// walkPage is how many nodes a walk reads at once.
const walkPage = 4 * listers

// walk holds what of a subtree is known and has not come yet, by path. For each list of
// children that is not done these are their names, and for each level at most a page of
// nodes with their values.
type walk struct {
	r     *Registry
	ahead *btree.BTreeG[walked]
}

// walked is a node of which a walk knows the name, and later the rest.
type walked struct {
	path string
	node *coord.Node // nil if it is not read yet
}

// Walk implements [coord.Registry].
func (r *Registry) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		if err := coord.ValidateRoot(path); err != nil {
			yield(coord.Node{}, fmt.Errorf("zk: walk: %w", err))
			return
		}
		const degree = 32
		w := walk{r, btree.NewG(degree, func(a, b walked) bool { return a.path < b.path })}
		err := w.begin(ctx, path)
		for err == nil && w.ahead.Len() > 0 {
			next, _ := w.ahead.Min()
			if next.node == nil {
				err = w.readPage(ctx)
				continue
			}
			// What is not known yet lies below what is not read yet, so it comes later.
			w.ahead.DeleteMin()
			if !yield(*next.node, nil) {
				return
			}
		}
		if err != nil && !errors.Is(err, coord.ErrDenied) { // which has a path already
			err = convertError(err, path)
		}
		if err != nil {
			yield(coord.Node{}, fmt.Errorf("zk: walk %w", err))
		}
	}
}

// begin makes the server catch up with the leader, and finds where to begin.
func (w *walk) begin(ctx context.Context, path string) error {
	full := w.r.full(path)
	names, err := read(w.r.limit(ctx), w.r, func(client *zookeeper.Conn) ([]string, error) {
		if path == "" {
			return syncChildren(client, full)
		}
		_, err := client.Sync(full)
		return nil, err
	})
	if path != "" {
		w.ahead.ReplaceOrInsert(walked{path: path})
	} else if errors.Is(err, zookeeper.ErrNoNode) {
		return nil // somebody has removed the namespace's node
	}
	w.add(path, names)
	return convertError(err, path)
}

func (w *walk) add(parent string, names []string) {
	for _, name := range names {
		w.ahead.ReplaceOrInsert(walked{path: coord.Join(parent, name)})
	}
}

// readPage reads the next nodes, and the names of their children.
func (w *walk) readPage(ctx context.Context) error {
	var page []walked
	w.ahead.Ascend(func(next walked) bool {
		if next.node == nil {
			page = append(page, next)
		}
		return len(page) < walkPage
	})
	names := make([][]string, len(page))
	err := w.r.parallel(ctx, len(page), func(client *zookeeper.Conn, i int) (err error) {
		page[i].node, names[i], err = lookOnce(client, w.r.full(page[i].path), page[i].path)
		if errors.Is(err, zookeeper.ErrNoAuth) {
			err = convertError(err, page[i].path) // which one
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, found := range page {
		if found.node == nil {
			w.ahead.Delete(found) // it was removed meanwhile
			continue
		}
		w.ahead.ReplaceOrInsert(found)
		w.add(found.path, names[i])
	}
	return nil
}

// lookOnce reads a node and the names of its children. It returns nil if there is no node.
func lookOnce(client *zookeeper.Conn, full, path string) (*coord.Node, []string, error) {
	value, stat, err := client.Get(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	node := newNode(path, value, stat)
	if stat.NumChildren == 0 {
		return &node, nil, nil
	}
	names, _, err := client.Children(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		err = nil // it was removed just now
	}
	return &node, names, err
}
