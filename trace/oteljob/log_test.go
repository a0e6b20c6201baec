package oteljob_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
)

// bridge keeps the spans of lines, by their messages.
type bridge map[string]trace.SpanContext

func (b bridge) Enabled(context.Context, slog.Level) bool { return true }
func (b bridge) Handle(ctx context.Context, r slog.Record) error {
	b[r.Message] = trace.SpanContextFromContext(ctx)
	return nil
}
func (b bridge) WithAttrs([]slog.Attr) slog.Handler { return b }
func (b bridge) WithGroup(string) slog.Handler      { return b }

// A line belongs to the span of its execution, or to the one that its writer has begun.
func TestLinesBelongToSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, lines := newRig(t), bridge{}
		tracer, err := oteljob.New(oteljob.Options{TracerProvider: r.provider, Log: lines})
		if err != nil {
			t.Fatal(err)
		}
		jobtest.Run(t, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			log := job.Logger(ctx)
			log.Info("plain")
			log.With("account", 1).InfoContext(ctx, "with the context")
			ctx, span := r.provider.Tracer("shop").Start(ctx, "inner")
			defer span.End()
			log.WithGroup("group").InfoContext(ctx, "within")
			return nil
		}), jobtest.Case{Config: job.Config{Name: "settle"}, Options: []job.Option{tracer.Option()}})
		run, inner := r.one("run settle").SpanContext, r.one("inner").SpanContext
		for message, want := range map[string]trace.SpanContext{"plain": run, "with the context": run, "within": inner} {
			if !lines[message].Equal(want) {
				t.Errorf("the line %q belongs to %v, want %v", message, lines[message], want)
			}
		}
	})
}
