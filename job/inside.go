package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// The reasons why StopAsked asks a handler to stop, besides ErrShutdown.
var (
	// ErrItemMoves: another instance is to run the item, as soon as it does not run here.
	ErrItemMoves = errors.New("job: the item is to move to another instance")
	// ErrDisabled: an operator has disabled the item, or all servers.
	ErrDisabled = errors.New("job: the item or the server is disabled")
)

// insideKey is the key under which a handler's context holds what it may ask of its execution.
type insideKey struct{}

// inside is an execution, as its handler sees it.
type inside struct {
	slog  *slog.Logger
	lines *lines // nil if there is no LogHandler
	sc    ShardingContext
	live  *wishes // of the run; nil outside of a scheduler
	// nil if the run has no record
	cursor *cursor
}

// wishes are what the scheduler tells a handler while it runs, and the handler tells it.
type wishes struct {
	// now are the properties in force. The controller changes them.
	now *atomic.Pointer[Properties]
	// shutdown ends when the scheduler is to shut down.
	shutdown context.Context
	// asked is when the handler has asked last whether it should stop; nil if it never has, and then
	// the controller need not find out.
	asked atomic.Pointer[clocks.Moment]
	// ask wakes the controller, when the handler has asked for the first time.
	ask func()

	mu     sync.Mutex
	stop   error
	told   bool // the handler was asked to stop
	output []byte
}

// PropertiesNow returns the properties in force at this moment: they may have changed since
// the execution began. ctx is the context that the handler was given, or one derived from it;
// with any other it returns none.
func PropertiesNow(ctx context.Context) Properties {
	in := insideOf(ctx)
	if in.live == nil {
		return in.sc.Properties
	}
	return *in.live.now.Load()
}

// StopAsked says why a handler that works for long should return between two pieces of work,
// or nil: ErrShutdown after a shutdown was asked for; ErrItemMoves if the item is to run on
// another instance; ErrDisabled. The context of the handler still goes on. A handler that runs
// for ever and does not ask keeps its item where it is.
//
// A handler that is not through returns the reason, or an error with it in its chain. Then the
// execution was cut short, which is no failure. After ErrShutdown, with failover on, another
// instance runs the item again at once. ErrItemMoves comes only when a later tick has come, so
// with misfire on the new owner makes up for that one at once. Otherwise the next tick or
// trigger goes on. A handler that returns nil is through.
//
// If the context has ended, it returns its cause. ctx is the context that the handler was
// given, or one derived from it; with any other it returns no other reason.
func StopAsked(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := insideOf(ctx).live
	if w == nil {
		return nil
	}
	if w.shutdown.Err() != nil {
		w.tell(ErrShutdown)
	}
	if now := clocks.Now(); w.asked.Swap(&now) == nil {
		w.ask()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = w.told || w.stop != nil
	return w.stop
}

// wasTold reports whether the handler was asked to stop.
func (w *wishes) wasTold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told
}

// yields reports whether a handler has returned a reason of StopAsked. The methods of an error
// are the user's: they may panic.
func yields(err error) (ok bool) {
	if err == nil {
		return false
	}
	defer func() { _ = recover() }() // then it says nothing of a reason
	return errors.Is(err, ErrItemMoves) || errors.Is(err, ErrDisabled) || errors.Is(err, ErrShutdown)
}

// MaxOutput bounds what [SetOutput] keeps, in bytes.
const MaxOutput = 64 << 10

// SetOutput keeps a text with the record of the execution: observers get it with EventFinished.
// Of a text that is longer than MaxOutput only the end is kept. A later call replaces what was
// kept before. ctx is as for [Logger].
func SetOutput(ctx context.Context, output []byte) {
	w := insideOf(ctx).live
	if w == nil {
		return
	}
	output = output[max(0, len(output)-MaxOutput):]
	w.mu.Lock()
	defer w.mu.Unlock()
	w.output = append([]byte(nil), output...)
}

// kept returns what SetOutput has kept.
func (w *wishes) kept() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output
}

// asks reports whether the handler wants to know whether it should stop.
func (w *wishes) asks() bool { return w.asked.Load() != nil }

// hasAsked reports whether the handler has asked within the last d.
func (w *wishes) hasAsked(d time.Duration) bool {
	asked := w.asked.Load()
	return asked != nil && clocks.Since(*asked) < d
}

// tell sets why the handler should stop; nil takes it back.
func (w *wishes) tell(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = reason
}

func insideOf(ctx context.Context) *inside {
	if in, ok := ctx.Value(insideKey{}).(*inside); ok {
		return in
	}
	return &inside{}
}
