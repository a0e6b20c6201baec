package exec

import (
	"context"
	"log/slog"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
)

// linesKey is the key under which a context holds where the lines of its execution go, beside the
// scheduler's log.
type linesKey struct{}

// LogTo is job.LogTo.
func LogTo(ctx context.Context, h slog.Handler) context.Context {
	if h == nil {
		return ctx
	}
	return context.WithValue(ctx, linesKey{}, append(slices.Clip(linesOf(ctx)), h))
}

func linesOf(ctx context.Context) []slog.Handler {
	list, _ := ctx.Value(linesKey{}).([]slog.Handler)
	return list
}

// guardedHandler is a handler of the program that may panic.
type guardedHandler struct {
	slog.Handler
	guard *health.Guard
}

// Enabled implements [slog.Handler].
func (g guardedHandler) Enabled(ctx context.Context, level slog.Level) bool {
	defer g.guard.Catch("a log handler")
	return g.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (g guardedHandler) Handle(ctx context.Context, r slog.Record) error {
	defer g.guard.Catch("a log handler")
	return g.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (g guardedHandler) WithAttrs(attrs []slog.Attr) (with slog.Handler) {
	with = g
	defer g.guard.Catch("a log handler")
	return guardedHandler{g.Handler.WithAttrs(attrs), g.guard}
}

// WithGroup implements [slog.Handler].
func (g guardedHandler) WithGroup(name string) (with slog.Handler) {
	with = g
	defer g.guard.Catch("a log handler")
	return guardedHandler{g.Handler.WithGroup(name), g.guard}
}
