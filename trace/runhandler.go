package trace

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"time"
)

// runHandler keeps the lines of an execution.
type runHandler struct {
	log *runLog
	// with adds what WithAttrs and WithGroup were given to a handler; nil if they were not called.
	with func(slog.Handler) slog.Handler
}

// Enabled implements [slog.Handler].
func (h *runHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.log.bounds.Level.Level()
}

// Handle implements [slog.Handler].
func (h *runHandler) Handle(ctx context.Context, record slog.Record) error {
	now := time.Now()
	if h.log.isFull(now) {
		return nil // before its text is made
	}
	text := record.Message
	if h.with != nil || record.NumAttrs() > 0 {
		attributes, err := h.attributes(ctx, record)
		if err != nil {
			return err
		}
		text = bounded(text) + attributes
	}
	h.log.write(record.Level, now, text)
	return nil
}

// attributes returns the attributes of a record as slog.TextHandler writes them. Each record has
// a handler of its own, because values may log, too, while they are asked for their text.
func (h *runHandler) attributes(ctx context.Context, record slog.Record) (string, error) {
	const before = "level=INFO msg=\"\"" // what the handler writes if there is nothing but attributes
	record.Level, record.Message, record.Time, record.PC = slog.LevelInfo, "", time.Time{}, 0
	var out bytes.Buffer
	var to slog.Handler = slog.NewTextHandler(&out, nil)
	if h.with != nil {
		to = h.with(to)
	}
	err := to.Handle(ctx, record)
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), before), "\n"), err
}

// WithAttrs implements [slog.Handler].
func (h *runHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	if len(attributes) == 0 {
		return h
	}
	return h.adding(func(to slog.Handler) slog.Handler { return to.WithAttrs(attributes) })
}

// WithGroup implements [slog.Handler].
func (h *runHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.adding(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

func (h *runHandler) adding(add func(slog.Handler) slog.Handler) slog.Handler {
	before := h.with
	return &runHandler{h.log, func(to slog.Handler) slog.Handler {
		if before != nil {
			to = before(to)
		}
		return add(to)
	}}
}
