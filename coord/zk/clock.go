package zk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Now implements [coord.Registry]: it writes the node, without a value, and returns the
// leader's time of that.
func (r *Registry) Now(ctx context.Context, path string) (time.Time, error) {
	if err := coord.ValidatePath(path); err != nil {
		return time.Time{}, fmt.Errorf("zk: now: %w", err)
	}
	stat, err := r.commit(ctx, []coord.Op{coord.Put(path, nil)})
	if errors.Is(err, coord.ErrUnknownOutcome) {
		// Whether it was written does not matter, only that the time is not known.
		return time.Time{}, fmt.Errorf("zk: now %s: %w (%w)", path, coord.ErrUnavailable, err)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("zk: now %s: %w", path, err)
	}
	return time.UnixMilli(stat.Mtime), nil
}

// Clock implements [coord.Registry].
func (r *Registry) Clock() coord.Clock { return coord.Clock{} }
