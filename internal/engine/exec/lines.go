package exec

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Lines are where those of an execution go, beside the scheduler's log.
type Lines struct {
	List    []jobtype.LogHandler
	Guard   *health.Guard
	Started jobtype.Event
	ctx     context.Context // of the execution, once it has begun

	once sync.Once
	made []slog.Handler
}

// handlers makes the handlers when they are needed for the first time.
func (l *Lines) handlers() []slog.Handler {
	l.once.Do(func() {
		for _, h := range l.List {
			l.make(h)
		}
	})
	return l.made
}

func (l *Lines) make(h jobtype.LogHandler) {
	defer l.Guard.Catch("a log handler")
	if made := h(l.ctx, l.Started); made != nil {
		l.made = append(l.made, guardedHandler{made, l.Guard})
	}
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

// tee writes each line to several handlers.
type tee []slog.Handler

// Enabled implements [slog.Handler].
func (t tee) Enabled(ctx context.Context, level slog.Level) bool {
	for _, h := range t {
		if h.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

// Handle implements [slog.Handler].
func (t tee) Handle(ctx context.Context, r slog.Record) error {
	var errs []error
	for _, h := range t {
		if h.Enabled(ctx, r.Level) {
			errs = append(errs, h.Handle(ctx, r.Clone()))
		}
	}
	return errors.Join(errs...)
}

// WithAttrs implements [slog.Handler].
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := make(tee, len(t))
	for n, h := range t {
		with[n] = h.WithAttrs(attrs)
	}
	return with
}

// WithGroup implements [slog.Handler].
func (t tee) WithGroup(name string) slog.Handler {
	with := make(tee, len(t))
	for n, h := range t {
		with[n] = h.WithGroup(name)
	}
	return with
}
