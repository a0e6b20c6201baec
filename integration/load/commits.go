package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/elasticjob-go/elasticjob/coord"
)

// counting counts the commits of a registry, as its callers see them: one for each call,
// however many go in a request.
type counting struct {
	coord.Registry
	commits, conflicts, failed atomic.Int64
}

func (c *counting) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	revision, err := c.Registry.Commit(ctx, ops...)
	c.commits.Add(1)
	switch {
	case errors.Is(err, coord.ErrConflict):
		c.conflicts.Add(1)
	case err != nil:
		c.failed.Add(1)
	}
	return revision, err
}
