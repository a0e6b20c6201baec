package dump

import (
	"context"

	"github.com/elasticjob-go/elasticjob/coord"
)

// TakeWithin is Take with other bounds.
func TakeWithin(ctx context.Context, reg coord.Registry, p Process, name string, nodes, bytes int) (Dump, error) {
	return take(ctx, reg, p, name, bounds{nodes, bytes})
}

// Lasting says how a view differs at the second of two looks, if it did so at the first.
func Lasting(path string, view, store, viewLater, storeLater coord.Snapshot) Difference {
	return look{view: viewLater, store: storeLater}.lasting(look{view: view, store: store}, path)
}

// Descending is the order of nodes.
func Descending(a, b string) int { return descending(a, b) }
