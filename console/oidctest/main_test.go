package oidctest

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the provider tells that of each request that it refuses
	goleak.VerifyTestMain(m)
}
