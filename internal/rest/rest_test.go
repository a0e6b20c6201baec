package rest

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
