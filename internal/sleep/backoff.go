package sleep

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is the pauses between attempts: each is twice as long as the one before, from 50 milliseconds to 2 seconds if
// nothing else is said, with [Jitter].
type Backoff struct {
	Min, Max time.Duration
	pause    time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	least, most := b.Min, b.Max
	if most == 0 {
		least, most = 50*time.Millisecond, 2*time.Second
	}
	b.pause = min(max(2*b.pause, least), most)
	return Jitter(b.pause)
}

// Wait waits for the next pause. It reports false if the context ends first.
func (b *Backoff) Wait(ctx context.Context) bool { return For(ctx, b.Next()) }

// Reset begins anew: the next pause is the first one.
func (b *Backoff) Reset() { b.pause = 0 }

// Jitter returns a random time between half of d and d, so that those who have failed together do not try again together.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
