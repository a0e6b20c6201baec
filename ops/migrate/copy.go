package migrate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// pack reads what of a job goes.
func (r *run) pack(ctx context.Context, name jobtree.Job, at position) (*cargo, error) {
	tree, err := read(ctx, r.source, name.Root())
	if err != nil {
		return nil, err
	}
	if at.source.Step == jobtree.Leaving {
		tree.Put(coord.Node{Path: name.Config(), Value: at.source.Config})
	}
	return pack(name, tree, r.now), nil
}

// write writes the nodes of a job.
func (r *run) write(ctx context.Context, c *cargo) error {
	w := writer{side: r.target, written: r.wrote}
	for _, path := range slices.Sorted(maps.Keys(c.nodes)) {
		if err := w.add(ctx, coord.Put(path, c.nodes[path])); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// compare reads both sides again. The target has to have what the source has, and nothing else.
func (r *run) compare(ctx context.Context, name jobtree.Job, at position) error {
	c, err := r.pack(ctx, name, at)
	if err != nil {
		return err
	}
	there := map[string][]byte{}
	for n, err := range r.target.Walk(ctx, name.Root()) {
		if err != nil {
			return err
		}
		if _, isOurs := c.nodes[n.Path]; isOurs || len(n.Value) > 0 || n.Owner != 0 { // others are parents
			there[n.Path] = n.Value
		}
	}
	var list brief.List
	for _, path := range differences(c.nodes, there) {
		list.Add(path)
	}
	if !list.Empty() {
		return fmt.Errorf("%w: %v", ErrDiffers, &list)
	}
	return nil
}

// differences returns the paths that only one of two has, or that have another value, ascending.
func differences(a, b map[string][]byte) []string {
	var list []string
	for path, value := range a {
		if other, isThere := b[path]; !isThere || !bytes.Equal(value, other) {
			list = append(list, path)
		}
	}
	for path := range b {
		if _, isThere := a[path]; !isThere {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}
