package zk

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

const (
	// walkers is how many requests of a walk are in flight. There may be hundreds of thousands of
	// them, and many that go together cost both sides half as much.
	walkers = 128
	// walkPage is how many nodes a walk reads before it goes on.
	walkPage = 8 * walkers
)

// walk holds what a walk has found and not yielded yet.
type walk struct {
	r      *Registry
	unread paths        // of nodes that were only listed so far
	found  []coord.Node // in order; at most a page for each level
}

// Walk implements [coord.Registry].
func (r *Registry) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		if err := coord.ValidateRoot(path); err != nil {
			yield(coord.Node{}, fmt.Errorf("zk: walk: %w", err))
			return
		}
		w := walk{r: r}
		err := w.begin(ctx, path)
		for err == nil && len(w.unread)+len(w.found) > 0 {
			// What is not even listed yet lies below an unread node, so it comes later.
			if len(w.found) == 0 || len(w.unread) > 0 && w.unread[0] < w.found[0].Path {
				err = w.readPage(ctx)
				continue
			}
			next := w.found[0]
			w.found = w.found[1:]
			if !yield(next, nil) {
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

// begin makes the server catch up with the leader, and adds the first paths.
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
		w.unread = paths{path}
	} else if errors.Is(err, zookeeper.ErrNoNode) {
		return nil // somebody has removed the namespace's node
	}
	w.add(path, names)
	return convertError(err, path)
}

func (w *walk) add(parent string, names []string) {
	for _, name := range names {
		heap.Push(&w.unread, coord.Join(parent, name))
	}
}

// readPage reads the next nodes, and the names of their children.
func (w *walk) readPage(ctx context.Context) error {
	var page []string
	for len(page) < walkPage && len(w.unread) > 0 {
		page = append(page, heap.Pop(&w.unread).(string))
	}
	nodes, names := make([]coord.Node, len(page)), make([][]string, len(page))
	err := w.r.parallel(ctx, walkers, len(page), func(client *zookeeper.Conn, i int) (err error) {
		nodes[i], names[i], err = readOnce(client, w.r.full(page[i]), page[i])
		if errors.Is(err, zookeeper.ErrNoAuth) {
			err = convertError(err, page[i]) // which one
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, path := range page {
		w.add(path, names[i])
	}
	nodes = slices.DeleteFunc(nodes, func(n coord.Node) bool { return n.Path == "" })
	w.found = slices.Concat(w.found, nodes)
	slices.SortFunc(w.found, func(a, b coord.Node) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// readOnce reads a node and the names of its children. The path of the node is empty if there
// is none.
func readOnce(client *zookeeper.Conn, full, path string) (coord.Node, []string, error) {
	value, stat, err := client.Get(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		return coord.Node{}, nil, nil // it was removed meanwhile
	}
	if err != nil {
		return coord.Node{}, nil, err
	}
	node := newNode(path, value, stat)
	if stat.NumChildren == 0 {
		return node, nil, nil
	}
	names, _, err := client.Children(full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		err = nil // it was removed just now
	}
	return node, names, err
}

// paths is a heap, for the package of that name: the smallest path is the first.
type paths []string

func (p paths) Len() int           { return len(p) }
func (p paths) Less(i, j int) bool { return p[i] < p[j] }
func (p paths) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *paths) Push(path any)     { *p = append(*p, path.(string)) }
func (p *paths) Pop() any {
	last := (*p)[len(*p)-1]
	(*p)[len(*p)-1] = ""
	*p = (*p)[:len(*p)-1]
	return last
}
