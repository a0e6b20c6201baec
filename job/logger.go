package job

import (
	"context"
	"log/slog"
)

// logKey is the key under which a handler's context holds its logging.
type logKey struct{}

// logging is what Logger makes a logger of.
type logging struct {
	to *slog.Logger
	sc ShardingContext
}

// Logger returns a logger for a handler. ctx is the context that the handler was given, or
// one derived from it; with any other context the logger writes nothing. The lines go where
// the scheduler's go, and each has the job, the item, the tick, the task id and the fencing
// token of the execution.
func Logger(ctx context.Context) *slog.Logger {
	l, ok := ctx.Value(logKey{}).(logging)
	if !ok || l.to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.to.With(
		slog.String("job", l.sc.JobName), slog.Int("item", l.sc.Item), slog.Time("tick", l.sc.ScheduledTime),
		slog.String("task", l.sc.TaskID), slog.Int64("token", l.sc.Token),
	)
}
