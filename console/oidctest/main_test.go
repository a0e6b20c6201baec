package oidctest

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the provider tells that of each request that it refuses
	goleak.VerifyTestMain(m)
}

// pass lets time pass in the bubble. It panics outside of one, where a test must not sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
