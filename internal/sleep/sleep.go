// Package sleep waits for a time, unless a context ends first.
package sleep

import (
	"context"
	"time"
)

// For waits for d. It reports false if the context ends first.
func For(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
