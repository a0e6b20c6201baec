package dataflow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Execute runs batches until the execution is through. A scheduler calls it, after Handler.
func (f *Flow) Execute(ctx context.Context, sc job.ShardingContext) error {
	if f.begin == nil {
		return errNoFunction
	}
	begun := time.Now()
	var done tally
	why, err := f.run(ctx, sc, &done)
	level := slog.LevelDebug
	switch {
	case why == asked:
		level = slog.LevelInfo
	case err != nil:
		why = "an error"
	}
	job.Logger(ctx).Log(ctx, level, "the dataflow ends", "why", why,
		"batches", done.batches, "rows", done.rows, "took", time.Since(begun), "error", err)
	return because(ctx, err)
}

// tally is what an execution has processed.
type tally struct{ batches, rows int }

// Why an execution ends, beside the reasons of job.StopAsked.
const (
	allDone  = "no more rows"
	oneBatch = "not streaming"
	asked    = "asked to stop"
)

// run runs the batches of an execution, and says why it stops.
func (f *Flow) run(ctx context.Context, sc job.ShardingContext, done *tally) (why string, err error) {
	next, err := f.begin(ctx, sc)
	if err != nil {
		return "", err
	}
	s, err := read(job.PropertiesNow(ctx))
	if err != nil {
		return "", err
	}
	if s.streaming {
		// The scheduler begins to look for reasons to stop with the first question. The answer
		// counts after the first batch only, so that each execution does something.
		_ = job.StopAsked(ctx)
	}
	for {
		rows, err := next(s.pageSize)
		if err != nil {
			return "", err
		}
		if rows == 0 {
			return allDone, context.Cause(ctx) // a fetch that was cut short may return nothing
		}
		done.batches++
		done.rows += rows
		if s, err = read(job.PropertiesNow(ctx)); err != nil || !s.streaming {
			return oneBatch, err
		}
		if reason := job.StopAsked(ctx); reason != nil {
			return asked, reason // the scheduler sees to the rest
		}
	}
}

// because adds to an error why the context has ended: "context canceled" alone does not say.
func because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
