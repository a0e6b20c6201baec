package jobtype

import (
	"context"
	"log/slog"
)

// ErrorHandlerType makes error handlers by the configuration of a job: one that sends mail to
// the addresses in Config.Props, say. job.WithErrorHandler gives it a name. A
// function is one, too ([ErrorHandlerFunc]).
type ErrorHandlerType interface {
	// ErrorHandler checks a configuration, and returns what is told of the job's failures
	// under it. It is called at the start, and again when the list of error handlers or
	// Config.Props have changed; c has its defaults. What it returns may be dropped without
	// having been called, so ErrorHandler itself must have no effect. log is the scheduler's.
	//
	// An error refuses the configuration, as that of [Type] does.
	//
	// What it returns may also be a [SuccessHandler], and a [Flusher].
	ErrorHandler(c Config, log *slog.Logger) (ErrorHandler, error)
}

// SuccessHandler is an ErrorHandler that is told of executions that have succeeded, too: in
// the goroutine of the item, before the item has finished.
type SuccessHandler interface {
	HandleSuccess(ctx context.Context, sc ShardingContext)
}

// Flusher is an ErrorHandler that does something later. Flush is called when it is told of
// nothing any more: because another one has taken its place, or because the scheduler ends. It
// returns when all is done, or ctx has ended; then it gives up what is left, and says so in
// its error. One that does not return then is left behind.
type Flusher interface {
	Flush(ctx context.Context) error
}

// ErrorHandlerTypeFunc makes an ErrorHandlerType of a function.
type ErrorHandlerTypeFunc func(c Config, log *slog.Logger) (ErrorHandler, error)

// ErrorHandler calls f.
func (f ErrorHandlerTypeFunc) ErrorHandler(c Config, log *slog.Logger) (ErrorHandler, error) {
	return f(c, log)
}
