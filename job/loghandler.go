package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
)

// LogHandler makes what keeps the lines of an execution: those that its handler writes with
// [Logger], and what a script prints. It is called in each execution at the first call of
// Logger, so not at all if there is none, with the context of the execution. It may return nil.
// The lines come without the attributes that Logger adds for the scheduler's own log: e says of
// which execution they are. An [Observer] is told the end of the execution, after its
// last line, or by a [Scope].
//
// The slog.Handler is on the path of the handler's own calls, in any goroutine, so it must not
// wait for anything. It has levels of its own, whatever those of the scheduler's log are. If it
// panics, or the LogHandler does, the line is missing there; that is logged, seldom.
type LogHandler func(ctx context.Context, e Event) slog.Handler

// WithLogHandler adds a place to which the lines of executions go, beside the scheduler's log.
// It may be given several times.
func WithLogHandler(h LogHandler) Option {
	return func(o *options) error {
		if h == nil {
			return errors.New("job: log handler is nil")
		}
		o.logHandlers = append(o.logHandlers, h)
		return nil
	}
}

// lines are where those of an execution go, beside the scheduler's log.
type lines struct {
	list    []LogHandler
	guard   *health.Guard
	started Event
	ctx     context.Context // of the execution, once it has begun

	once sync.Once
	made []slog.Handler
}

// handlers makes the handlers when they are needed for the first time.
func (l *lines) handlers() []slog.Handler {
	l.once.Do(func() {
		for _, h := range l.list {
			l.make(h)
		}
	})
	return l.made
}

func (l *lines) make(h LogHandler) {
	defer l.guard.Catch("a log handler")
	if made := h(l.ctx, l.started); made != nil {
		l.made = append(l.made, guardedHandler{made, l.guard})
	}
}

// guardedHandler is a handler of the program that may panic.
type guardedHandler struct {
	slog.Handler
	guard *health.Guard
}

// Enabled implements [slog.Handler].
func (g guardedHandler) Enabled(ctx context.Context, level slog.Level) bool {
	defer g.guard.Catch("a log handler")
	return g.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (g guardedHandler) Handle(ctx context.Context, r slog.Record) error {
	defer g.guard.Catch("a log handler")
	return g.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (g guardedHandler) WithAttrs(attrs []slog.Attr) (with slog.Handler) {
	with = g
	defer g.guard.Catch("a log handler")
	return guardedHandler{g.Handler.WithAttrs(attrs), g.guard}
}

// WithGroup implements [slog.Handler].
func (g guardedHandler) WithGroup(name string) (with slog.Handler) {
	with = g
	defer g.guard.Catch("a log handler")
	return guardedHandler{g.Handler.WithGroup(name), g.guard}
}

// tee writes each line to several handlers.
type tee []slog.Handler

// Enabled implements [slog.Handler].
func (t tee) Enabled(ctx context.Context, level slog.Level) bool {
	for _, h := range t {
		if h.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

// Handle implements [slog.Handler].
func (t tee) Handle(ctx context.Context, r slog.Record) error {
	var errs []error
	for _, h := range t {
		if h.Enabled(ctx, r.Level) {
			errs = append(errs, h.Handle(ctx, r.Clone()))
		}
	}
	return errors.Join(errs...)
}

// WithAttrs implements [slog.Handler].
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := make(tee, len(t))
	for n, h := range t {
		with[n] = h.WithAttrs(attrs)
	}
	return with
}

// WithGroup implements [slog.Handler].
func (t tee) WithGroup(name string) slog.Handler {
	with := make(tee, len(t))
	for n, h := range t {
		with[n] = h.WithGroup(name)
	}
	return with
}
