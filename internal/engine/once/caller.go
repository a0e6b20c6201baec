package once

import (
	"context"
	"log/slog"
	"sync"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
)

// Config is what a caller is made with.
type Config struct {
	Log     *zap.Logger
	Slog    *slog.Logger    // for listeners
	Working *sync.WaitGroup // waits for the goroutines of calls
	Wake    func()          // has the job make a pass; is called when a call has returned
	Commit  func(decide.Change) bool
	// Begin begins a call instead of the caller itself, for tests; may be nil.
	Begin func(*decide.World, decide.Call) *Call
}

// Caller makes the calls of one job's once-listeners. It belongs to the goroutine of the job's loop.
type Caller struct {
	config Config
	calls  map[key]*Call
}

// New returns a caller.
func New(c Config) *Caller { return &Caller{config: c, calls: map[key]*Call{}} }

// key is what a call is.
type key struct {
	tick  int64 // in milliseconds
	isEnd bool  // Completed, and not Started
}

func keyOf(call decide.Call) key { return key{call.Tick.UnixMilli(), call.IsEnd} }

// Call is a call that was begun.
type Call struct {
	cancel     context.CancelCauseFunc
	errors     *exec.ErrorHandlers
	done       chan struct{} // closed when it has returned, or was left behind
	isRecorded bool          // the tree shows that it was made
}

// NewCall returns a call that End ends.
func NewCall(cancel context.CancelCauseFunc) *Call {
	return &Call{cancel: cancel, done: make(chan struct{})}
}

// End notes that the call has returned.
func (c *Call) End() { close(c.done) }

// IsDone reports whether the call has returned, or was left behind.
func (c *Call) IsDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// IsRecorded reports whether the tree shows that the call was made.
func (c *Call) IsRecorded() bool { return c.isRecorded }

// Advance starts the calls that are for this instance to make by the tree, if mayBegin, and records those
// that have returned. It reports whether it has forgotten any that are over. ctx is the session's, with
// the owner of its handlers (exec.WithOwner).
func (c *Caller) Advance(ctx context.Context, w *decide.World, s *setup.Settings, mayBegin bool) (forgotten bool) {
	due := w.Calls()
	wanted := make(map[key]bool, len(due))
	for _, call := range due {
		wanted[keyOf(call)] = true
		switch made := c.calls[keyOf(call)]; {
		case made == nil && mayBegin && c.config.Begin != nil:
			c.calls[keyOf(call)] = c.config.Begin(w, call)
		case made == nil && mayBegin:
			c.calls[keyOf(call)] = c.start(ctx, w, s, call)
		case made != nil && made.IsDone() && !made.isRecorded:
			made.isRecorded = c.config.Commit(w.EndCall(call))
		}
	}
	for k, made := range c.calls {
		if !wanted[k] && made.IsDone() {
			delete(c.calls, k)
			forgotten = true
		}
	}
	return forgotten
}

// Pending returns how many calls are under way, or not recorded.
func (c *Caller) Pending() int {
	n := 0
	for _, made := range c.calls {
		if !made.isRecorded {
			n++
		}
	}
	return n
}

// Uses reports whether a call that is under way reports to these error handlers.
func (c *Caller) Uses(e *exec.ErrorHandlers) bool {
	for _, made := range c.calls {
		if !made.IsDone() && made.errors == e {
			return true
		}
	}
	return false
}

// Cancel ends the contexts of the calls.
func (c *Caller) Cancel(cause error) {
	for _, made := range c.calls {
		made.cancel(cause)
	}
}

// Forget drops the calls of an identity that is given up: others make them once more.
func (c *Caller) Forget(cause error) {
	if len(c.calls) > 0 {
		c.config.Log.Warn("calls of once-listeners are left to others", zap.Int("calls", len(c.calls)))
	}
	c.Cancel(cause)
	clear(c.calls)
}

// EndChanges returns the changes that record calls that have returned.
func (c *Caller) EndChanges(w *decide.World) []decide.Change {
	var changes []decide.Change
	for _, call := range w.Calls() {
		if made := c.calls[keyOf(call)]; made != nil && made.IsDone() && !made.isRecorded {
			changes = append(changes, w.EndCall(call))
		}
	}
	return changes
}
