package dump

import (
	"context"

	"github.com/elasticjob-go/elasticjob/coord"
)

// TakeWithin is Take with other bounds.
func TakeWithin(ctx context.Context, reg coord.Registry, p Process, name string, nodes, bytes int) (Dump, error) {
	return take(ctx, reg, p, name, bounds{nodes, bytes})
}

// CaughtUp says whether a view has taken in what the registry had of a node.
func CaughtUp(path string, before, store, now coord.Snapshot) bool {
	return caughtUp(path, before, store, now)
}

// Descending is the order of nodes.
func Descending(a, b string) int { return descending(a, b) }
