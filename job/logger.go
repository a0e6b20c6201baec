package job

import (
	"context"
	"log/slog"
)

// Logger returns a logger for a handler. ctx is the context that the handler was given, or
// one derived from it; with any other context the logger writes nothing. The lines go where
// the scheduler's go, and each has the job, the item, the tick, the task id and the fencing
// token of the execution. With [WithLogHandler] they go there, too.
func Logger(ctx context.Context) *slog.Logger {
	in := insideOf(ctx)
	if in.slog == nil {
		return slog.New(slog.DiscardHandler)
	}
	log := in.slog.With(
		slog.String("job", in.sc.JobName), slog.Int("item", in.sc.Item), slog.Time("tick", in.sc.ScheduledTime),
		slog.String("task", in.sc.TaskID), slog.Int64("token", in.sc.Token),
	)
	if in.lines == nil {
		return log
	}
	return slog.New(append(tee{log.Handler()}, in.lines.handlers()...))
}
