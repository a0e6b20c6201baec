package exec

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// handleKey is the key under which a handler's context holds what it may ask of its execution.
type handleKey struct{}

// handle is an execution, as its handler sees it.
type handle struct {
	slog    *slog.Logger
	guard   *health.Guard // of slog handlers
	sc      jobtype.ShardingContext
	signals *Signals // nil outside of a scheduler
	cursor  *Cursor  // nil if the run has no record
}

// Signals carry requests between a scheduler and a handler that runs: to stop, changed properties, its output.
type Signals struct {
	// Now are the effective properties. The scheduler changes them.
	Now *atomic.Pointer[jobtype.Properties]
	// Shutdown ends when the scheduler is to shut down.
	Shutdown context.Context
	// asked is when the handler has asked last whether it should stop; nil if it never has, and then
	// the controller need not find out.
	asked atomic.Pointer[clocks.Moment]
	// Wake wakes the scheduler, when the handler has asked for the first time.
	Wake func()

	mu         sync.Mutex
	stop       error
	toldToStop bool // the handler was asked to stop
	output     []byte
	end        ContextEnd // of the handler's context while it ran, by its time-out or a kill
	isReturned bool       // the handler has returned
}

// ContextEnd is when and why the context of a handler ended.
type ContextEnd struct {
	At    clocks.Instant
	Cause error // nil if it has not ended
}

// PropertiesNow is job.PropertiesNow.
func PropertiesNow(ctx context.Context) jobtype.Properties {
	in := handleOf(ctx)
	if in.signals == nil {
		return in.sc.Properties
	}
	return *in.signals.Now.Load()
}

// StopAsked is job.StopAsked.
func StopAsked(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := handleOf(ctx).signals
	if w == nil {
		return nil
	}
	if w.Shutdown.Err() != nil {
		w.Stop(jobtype.ErrShutdown)
	}
	if now := clocks.Now(); w.asked.Swap(&now) == nil {
		w.Wake()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.toldToStop = w.toldToStop || w.stop != nil
	return w.stop
}

// wasToldToStop reports whether the handler was asked to stop.
func (w *Signals) wasToldToStop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.toldToStop
}

// isStoppedOnRequest reports whether a handler has returned a reason of StopAsked. The methods of an error
// are the user's: they may panic.
func isStoppedOnRequest(err error) (ok bool) {
	if err == nil {
		return false
	}
	defer func() { _ = recover() }() // then it says nothing of a reason
	return errors.Is(err, jobtype.ErrItemMoves) || errors.Is(err, jobtype.ErrDisabled) || errors.Is(err, jobtype.ErrShutdown)
}

// MaxOutput bounds what [SetOutput] keeps, in bytes.
const MaxOutput = 64 << 10

// SetOutput is job.SetOutput.
func SetOutput(ctx context.Context, output []byte) {
	w := handleOf(ctx).signals
	if w == nil {
		return
	}
	output = output[max(0, len(output)-MaxOutput):]
	w.mu.Lock()
	defer w.mu.Unlock()
	w.output = append([]byte(nil), output...)
}

// Output returns what SetOutput has kept.
func (w *Signals) Output() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output
}

// Asks reports whether the handler wants to know whether it should stop.
func (w *Signals) Asks() bool { return w.asked.Load() != nil }

// HasAsked reports whether the handler has asked within the last d.
func (w *Signals) HasAsked(d time.Duration) bool {
	asked := w.asked.Load()
	return asked != nil && clocks.Since(*asked) < d
}

// Stop sets why the handler should stop; nil takes it back.
func (w *Signals) Stop(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = reason
}

// EndContext notes that the context of the handler has ended. The first cause stays.
func (w *Signals) EndContext(cause error, at clocks.Instant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end.Cause == nil && !w.isReturned {
		w.end = ContextEnd{At: at, Cause: cause}
	}
}

// ContextEnd returns the end of the context of a handler that still runs.
func (w *Signals) ContextEnd() ContextEnd {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

// handlerReturned notes that the handler has returned. If its context had ended before, the scheduler is woken: it may
// have said that the handler does not return.
func (w *Signals) handlerReturned() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isReturned = true; w.end.Cause != nil {
		w.end = ContextEnd{}
		w.Wake()
	}
}

// WithContext returns a context that can be asked for its logger and properties, as that of a handler, without an execution.
func WithContext(ctx context.Context, sc jobtype.ShardingContext, log *slog.Logger) context.Context {
	return context.WithValue(ctx, handleKey{}, &handle{slog: log, sc: sc})
}

func handleOf(ctx context.Context) *handle {
	if in, ok := ctx.Value(handleKey{}).(*handle); ok {
		return in
	}
	return &handle{}
}

// Logger is job.Logger.
func Logger(ctx context.Context) *slog.Logger {
	in := handleOf(ctx)
	if in.slog == nil {
		return slog.New(slog.DiscardHandler)
	}
	log := in.slog.With(
		slog.String("job", in.sc.JobName), slog.Int("item", in.sc.Item), slog.Time("tick", in.sc.ScheduledTime),
		slog.String("task", in.sc.TaskID), slog.Int64("token", in.sc.Token),
	)
	lines := linesOf(ctx)
	if len(lines) == 0 {
		return log
	}
	several := []slog.Handler{log.Handler()}
	for _, h := range lines {
		several = append(several, guardedHandler{h, in.guard})
	}
	return slog.New(slog.NewMultiHandler(several...))
}
