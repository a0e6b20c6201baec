// Package storeclock keeps what a registry knows of its store's clock.
package storeclock

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

const (
	// interval is how often the clocks are compared while they agree.
	interval = time.Hour
	// firstLook and lastLook bound how often it is looked whether they still do. While they
	// do not, they are compared at each look, and looks become rarer: the store's clock may
	// have been set, or the reading was wrong, because this process was held up.
	firstLook = 10 * time.Second
	lastLook  = time.Minute
	// firstBackoff and lastBackoff bound what is waited after a comparison that failed.
	firstBackoff = time.Second
	lastBackoff  = time.Minute
	// doubt is how far the clocks may be from each other before they are compared again.
	doubt = 2 * time.Second
	// spread is over how long the comparisons in another session are spread: after an
	// outage everybody has one at the same moment.
	spread = time.Second
)

// Keeper compares a store's clock with the local one: once in each session, then hourly,
// and soon again where they differ or could not be compared.
type Keeper struct {
	session func(context.Context) (coord.Session, error)
	compare func(context.Context) (coord.Clock, error)

	mu    sync.Mutex
	clock coord.Clock
}

// New returns a keeper that knows nothing before Run. session waits for a session of the
// registry that has not ended; its error ends Run. compare compares the clocks once, in a
// bounded time.
func New(session func(context.Context) (coord.Session, error), compare func(context.Context) (coord.Clock, error)) *Keeper {
	return &Keeper{session: session, compare: compare}
}

// Clock is what is known now.
func (k *Keeper) Clock() coord.Clock {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock
}

// Run compares the clocks until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	var last coord.Session
	backoff, look := firstBackoff, firstLook
	for {
		s, err := k.session(ctx)
		if err != nil {
			return // the registry is closed
		}
		// The spread begins with the new session: the outage may have gone on for long
		// after the end of the last one.
		if last != nil && s != last && !sleep.For(ctx, rand.N(spread)) {
			return
		}
		last = s
		if !k.compareOnce(ctx) {
			wait(ctx, s, backoff)
			backoff = min(2*backoff, lastBackoff)
			continue
		}
		backoff = firstBackoff
		if !k.apart() {
			look = firstLook
		}
		k.rest(ctx, s, look)
		look = min(2*look, lastLook)
	}
}

func (k *Keeper) compareOnce(ctx context.Context) bool {
	clock, err := k.compare(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.clock = k.clock.Failed(err)
		return false
	}
	k.clock = clock
	return true
}

// rest waits until it is time to compare again: an hour, or less if a look shows that the
// clocks differ, or until the session has ended.
func (k *Keeper) rest(ctx context.Context, s coord.Session, look time.Duration) {
	again := time.Now().Add(about(interval))
	for wait(ctx, s, look) && time.Now().Before(again) && !k.apart() {
	}
}

// apart reports whether the clocks are too far from each other to leave it at that.
func (k *Keeper) apart() bool { return k.Clock().Ahead(time.Now()).Abs() > doubt }

// wait waits for about a time. It reports false if the session, or ctx, ended first.
func wait(ctx context.Context, s coord.Session, pause time.Duration) bool {
	timer := time.NewTimer(about(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.Context().Done():
	case <-ctx.Done():
	}
	return false
}

// about keeps many processes from asking at the same moment.
func about(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2) }
