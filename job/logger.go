package job

import (
	"context"
	"log/slog"
)

// logKey is the key of what Logger makes a logger of.
type logKey struct{}

type logging struct {
	to *slog.Logger
	sc ShardingContext
}

// Logger returns a logger for a handler, by the context that it was given. It writes where
// the scheduler does, and each line has the job, the item, the tick, the task id and the
// fencing token of the execution. By any other context it writes nothing.
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
