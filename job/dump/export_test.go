package dump

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// TakeWithin is Take with other bounds.
func TakeWithin(ctx context.Context, reg coord.Registry, p Process, name string, nodes, bytes int) (Dump, error) {
	return take(ctx, reg, p, name, bounds{nodes, bytes})
}

// Descending is the order of nodes.
func Descending(a, b string) int { return descending(a, b) }

// Hurry makes the service wait for everything for that long only.
func (s *Service) Hurry(d time.Duration) { s.times = times{d, d, d, d, d} }
