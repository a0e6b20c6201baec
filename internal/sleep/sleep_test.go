package sleep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if !For(t.Context(), time.Minute) || time.Since(begin) != time.Minute {
			t.Errorf("over after %v, want a minute", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if For(ctx, time.Minute) || time.Since(begin) != time.Minute+time.Second {
			t.Errorf("over after %v, want a second more", time.Since(begin))
		}
	})
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name    string
			backoff Backoff
			most    []time.Duration
		}{
			{"as it is", Backoff{}, []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond, 2 * time.Second, 2 * time.Second}},
			{"bounded", Backoff{Min: time.Second, Max: 3 * time.Second}, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second}},
		} {
			for n, most := range c.most {
				begin := time.Now()
				if waited := c.backoff.Wait(t.Context()); !waited || time.Since(begin) < most/2 || time.Since(begin) > most {
					t.Errorf("%s: pause %d is over after %v, want %v at most, and half of that at least", c.name, n, time.Since(begin), most)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if (&Backoff{}).Wait(ctx) {
			t.Error("waits although the context has ended")
		}
	})
}
