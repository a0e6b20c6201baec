package sleep

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff waits between attempts, each time twice as long, from 50 milliseconds to 2 seconds if nothing else is said.
// A random part of up to half is left out, so that those who have failed together do not try again together.
type Backoff struct {
	Min, Max time.Duration
	pause    time.Duration
}

// Wait waits for the next pause. It reports false if the context ends first.
func (b *Backoff) Wait(ctx context.Context) bool {
	least, most := b.Min, b.Max
	if most == 0 {
		least, most = 50*time.Millisecond, 2*time.Second
	}
	b.pause = min(max(2*b.pause, least), most)
	return For(ctx, b.pause/2+rand.N(b.pause/2))
}
