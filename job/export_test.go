package job

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
)

// WithLinger makes runs that have ended wait longer for the other runs of their claim. It is
// for tests that count commits: on a busy machine handlers may return one by one.
func WithLinger(d time.Duration) Option {
	return func(o *setup.Options) error {
		o.Linger = d
		return nil
	}
}

// Join starts a job by the configuration that the registry has.
func (n *Node) Join(ctx context.Context, name string, h Handler, opts ...Option) (*Scheduler, error) {
	return n.join(ctx, name, h, opts)
}
