package job

import (
	"context"
	"fmt"
	"log/slog"
)

// WithErrorHandlerType gives a type of error handlers a name, for Config.ErrorHandler; see
// [WithErrorHandler] for what a name may be. Of two with the same name the last one counts.
func WithErrorHandlerType(name string, t ErrorHandlerType) Option {
	return func(o *options) error {
		if err := checkErrorHandlerName(name); err != nil {
			return err
		}
		if isNil(t) {
			return fmt.Errorf("job: error handler type %s is nil", quote(name))
		}
		put(&o.errorHandlers, name, t)
		return nil
	}
}

// sameErrorHandler is the type of an error handler that is the same for all configurations, and
// maybe for several jobs. So it is never flushed: it belongs to the program.
type sameErrorHandler struct{ h ErrorHandler }

func (s sameErrorHandler) ErrorHandler(Config, *slog.Logger) (ErrorHandler, error) {
	return unflushed{s.h}, nil
}

// unflushed hides whatever else an error handler can do but to be told.
type unflushed struct{ ErrorHandler }

// HandleSuccess is that of the error handler, if it wants to know.
func (u unflushed) HandleSuccess(ctx context.Context, sc ShardingContext) {
	if s, ok := u.ErrorHandler.(SuccessHandler); ok {
		s.HandleSuccess(ctx, sc)
	}
}
