package exec

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ErrorHandlers are those of a job under one configuration. They are told one after the other, even if one panics.
type ErrorHandlers struct {
	log  *zap.Logger
	list []namedErrorHandler
	// By what they were made.
	names string
	props map[string]string
}

type namedErrorHandler struct {
	name string
	jobtype.ErrorHandler
}

// IsFor reports whether a configuration asks for the same error handlers.
func (e *ErrorHandlers) IsFor(c jobtype.Config) bool {
	return e.names == c.ErrorHandler && maps.Equal(e.props, c.Props)
}

// HandleError tells each of them of a failure.
func (e *ErrorHandlers) HandleError(ctx context.Context, sc jobtype.ShardingContext, err error) {
	e.tell(e.list, sc, err, func(h jobtype.ErrorHandler) { h.HandleError(ctx, sc, err) })
}

// HandleSuccess tells those that want to know.
func (e *ErrorHandlers) HandleSuccess(ctx context.Context, sc jobtype.ShardingContext) {
	e.tell(e.list, sc, nil, func(h jobtype.ErrorHandler) {
		if s, ok := h.(jobtype.SuccessHandler); ok {
			s.HandleSuccess(ctx, sc)
		}
	})
}

// WantState reports whether any of them wants to know how the job stands.
func (e *ErrorHandlers) WantState() bool {
	return slices.ContainsFunc(e.list, func(one namedErrorHandler) bool {
		_, ok := one.ErrorHandler.(jobtype.StateHandler)
		return ok
	})
}

// HandleState tells those that want to know how the job stands.
func (e *ErrorHandlers) HandleState(s jobtype.JobState) {
	e.tell(e.list, jobtype.ShardingContext{JobName: s.JobName}, nil, func(h jobtype.ErrorHandler) {
		if one, ok := h.(jobtype.StateHandler); ok {
			one.HandleState(s)
		}
	})
}

func (e *ErrorHandlers) tell(list []namedErrorHandler, sc jobtype.ShardingContext, err error, tell func(jobtype.ErrorHandler)) {
	if len(list) == 0 {
		return
	}
	first := list[0]
	// The call of the others is deferred, because the first may panic, or end the goroutine.
	defer e.tell(list[1:], sc, err, tell)
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("error handler panicked", append(fieldsOf(sc), zap.String("handler", first.name), zap.Any("panic", v), zap.Error(err))...)
		}
	}()
	tell(first.ErrorHandler)
}

// Flush lets all error handlers finish, at the same time.
func (e *ErrorHandlers) Flush(ctx context.Context) {
	var flushing sync.WaitGroup
	defer flushing.Wait()
	for _, one := range e.list {
		f, ok := one.ErrorHandler.(jobtype.Flusher)
		if !ok {
			continue
		}
		flushing.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					e.log.Error("error handler panicked", zap.String("handler", one.name), zap.Any("panic", v))
				}
			}()
			if err := f.Flush(ctx); err != nil {
				e.log.Error("an error handler could not finish", zap.String("handler", one.name), zap.Error(err))
			}
		})
	}
}

// LogErrors returns the error handler LOG.
func LogErrors(log *zap.Logger) jobtype.ErrorHandlerFunc {
	return func(_ context.Context, sc jobtype.ShardingContext, err error) {
		fields := append(fieldsOf(sc), zap.Error(err))
		if p, ok := errors.AsType[*jobtype.PanicError](err); ok {
			fields = append(fields, zap.ByteString("stack", p.Stack))
		}
		log.Error("item failed", fields...)
	}
}

// IgnoreErrors returns the error handler IGNORE.
func IgnoreErrors() jobtype.ErrorHandlerFunc {
	return func(context.Context, jobtype.ShardingContext, error) {}
}

// fieldsOf returns what identifies an execution in a log line.
func fieldsOf(sc jobtype.ShardingContext) []zap.Field {
	return []zap.Field{
		zap.String("job", sc.JobName),
		zap.Int("item", sc.Item),
		zap.String("task", sc.TaskID),
		zap.Stringer("source", sc.Source),
		zap.Int64("token", sc.Token),
	}
}

// NewErrorHandlers returns the error handlers of a configuration, none yet.
func NewErrorHandlers(log *zap.Logger, c jobtype.Config) *ErrorHandlers {
	return &ErrorHandlers{log: log, names: c.ErrorHandler, props: c.Props}
}

// Add adds one.
func (e *ErrorHandlers) Add(name string, h jobtype.ErrorHandler) {
	e.list = append(e.list, namedErrorHandler{name, h})
}
