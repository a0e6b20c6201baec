package connection

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

func (p *past) Write(ctx context.Context, b trace.Batch) error {
	_, err := ask(ctx, p, writeTime, func(ctx context.Context, h History) (struct{}, error) { return struct{}{}, h.Write(ctx, b) })
	return err
}

func (p *past) Executions(ctx context.Context, f history.ExecutionFilter) (history.Page[history.Execution], error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Page[history.Execution], error) {
		return h.Executions(ctx, f)
	})
}

func (p *past) Execution(ctx context.Context, id string) (history.Execution, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Execution, error) { return h.Execution(ctx, id) })
}

func (p *past) Chain(ctx context.Context, x history.Execution) ([]history.Execution, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]history.Execution, error) { return h.Chain(ctx, x) })
}

func (p *past) Latest(ctx context.Context, job string, after, limit int) ([]history.Execution, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]history.Execution, error) {
		return h.Latest(ctx, job, after, limit)
	})
}

func (p *past) Outlines(ctx context.Context, q history.OutlineQuery) (history.Outlines, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Outlines, error) { return h.Outlines(ctx, q) })
}

func (p *past) Lines(ctx context.Context, id string, after, limit int) ([]trace.Line, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]trace.Line, error) { return h.Lines(ctx, id, after, limit) })
}

func (p *past) Statuses(ctx context.Context, f history.StatusFilter) (history.Page[history.Status], error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Page[history.Status], error) { return h.Statuses(ctx, f) })
}

func (p *past) Events(ctx context.Context, f history.EventFilter) (history.Page[trace.Event], error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Page[trace.Event], error) { return h.Events(ctx, f) })
}

func (p *past) Counts(ctx context.Context, q history.CountQuery) ([]history.Count, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]history.Count, error) { return h.Counts(ctx, q) })
}

func (p *past) Missed(ctx context.Context, q history.CountQuery) ([]history.Missed, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]history.Missed, error) { return h.Missed(ctx, q) })
}

func (p *past) Lanes(ctx context.Context, from, to time.Time) (history.Lanes, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Lanes, error) { return h.Lanes(ctx, from, to) })
}

func (p *past) Durations(ctx context.Context, job string, from, to time.Time) (history.Durations, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Durations, error) {
		return h.Durations(ctx, job, from, to)
	})
}

func (p *past) JobNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]string, error) { return h.JobNames(ctx, prefix, limit) })
}

func (p *past) StatusJobNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]string, error) { return h.StatusJobNames(ctx, prefix, limit) })
}

func (p *past) Addresses(ctx context.Context, prefix string, limit int) ([]string, error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) ([]string, error) { return h.Addresses(ctx, prefix, limit) })
}

func (p *past) SearchExecutions(ctx context.Context, s history.ExecutionSearch) (history.Found[history.Execution], error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Found[history.Execution], error) {
		return h.SearchExecutions(ctx, s)
	})
}

func (p *past) SearchStatuses(ctx context.Context, s history.StatusSearch) (history.Found[history.Status], error) {
	return ask(ctx, p, askTime, func(ctx context.Context, h History) (history.Found[history.Status], error) {
		return h.SearchStatuses(ctx, s)
	})
}
