package slogzap

import (
	"log/slog"
	"math"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
)

// Slog returns a logger whose lines go to the core of to, under its name and with its
// fields. nil means silence.
//
// Each line has its caller. None has a stack trace, as those of zap have at its error
// level: an error that a job handles is no reason for one.
func Slog(to *zap.Logger) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(zapslog.NewHandler(to.Core(),
		zapslog.WithName(to.Name()),
		zapslog.WithCaller(true),
		zapslog.AddStacktraceAt(slog.Level(math.MaxInt)),
	))
}
