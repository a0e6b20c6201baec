package job

import (
	"context"
	"errors"

	"go.uber.org/zap"
)

func logErrors(log *zap.Logger) ErrorHandler {
	return ErrorHandlerFunc(func(_ context.Context, sc ShardingContext, err error) {
		fields := append(sc.fields(), zap.Error(err))
		if p, ok := errors.AsType[*PanicError](err); ok {
			fields = append(fields, zap.ByteString("stack", p.Stack))
		}
		log.Error("item failed", fields...)
	})
}

func ignoreErrors() ErrorHandler {
	return ErrorHandlerFunc(func(context.Context, ShardingContext, error) {})
}

// fields returns what identifies an execution in a log line.
func (sc ShardingContext) fields() []zap.Field {
	return []zap.Field{
		zap.String("job", sc.JobName),
		zap.Int("item", sc.Item),
		zap.String("task", sc.TaskID),
		zap.Stringer("source", sc.Source),
		zap.Int64("token", sc.Token),
	}
}
