package etcd

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// retry waits between attempts: longer each time, and with jitter, so that many clients do
// not try again at the same moment.
type retry struct {
	first, next, max time.Duration
}

func newRetry() *retry { return newRetryBetween(20*time.Millisecond, time.Second) }

// newRetryBetween returns a retry whose first wait is about first, and its longest about most.
func newRetryBetween(first, most time.Duration) *retry {
	return &retry{first: first, next: first, max: most}
}

// wait reports false if the context ended first.
func (r *retry) wait(ctx context.Context) bool {
	pause := r.next/2 + rand.N(r.next)
	r.next = min(2*r.next, r.max)
	return sleep.For(ctx, pause)
}

func (r *retry) reset() { r.next = r.first }
