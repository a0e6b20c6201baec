package etcd

import (
	"context"
	"math/rand/v2"
	"time"
)

// retry waits between attempts, longer each time, and with jitter so that many clients
// do not come back at once.
type retry struct {
	next time.Duration
	max  time.Duration
}

func newRetry() *retry { return &retry{next: minRetry, max: time.Second} }

const minRetry = 20 * time.Millisecond

// wait reports false if the context ended first.
func (r *retry) wait(ctx context.Context) bool {
	pause := r.next/2 + rand.N(r.next)
	r.next = min(2*r.next, r.max)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *retry) reset() { r.next = minRetry }
