package oteljob

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
)

// linesOf returns what gives the lines of an execution to a handler, with the context that they
// belong to.
func linesOf(ctx context.Context, e job.Event, h slog.Handler) slog.Handler {
	about := []slog.Attr{slog.String("job", e.JobName), slog.Int("item", e.Item), slog.String("task", e.TaskID)}
	return &lines{h.WithAttrs(about), ctx}
}

// lines are those of an execution.
type lines struct {
	slog.Handler
	ctx context.Context
}

// Handle implements [slog.Handler]. A line that was written without a context belongs to the
// span of the execution.
func (l *lines) Handle(ctx context.Context, r slog.Record) error {
	return l.Handler.Handle(l.of(ctx), r)
}

// Enabled implements [slog.Handler].
func (l *lines) Enabled(ctx context.Context, level slog.Level) bool {
	return l.Handler.Enabled(l.of(ctx), level)
}

// WithAttrs implements [slog.Handler].
func (l *lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lines{l.Handler.WithAttrs(attrs), l.ctx}
}

// WithGroup implements [slog.Handler].
func (l *lines) WithGroup(name string) slog.Handler { return &lines{l.Handler.WithGroup(name), l.ctx} }

func (l *lines) of(ctx context.Context) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return l.ctx
}
