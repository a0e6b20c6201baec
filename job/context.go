package job

import (
	"context"
	"iter"
	"log/slog"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
)

// ErrNoCursor: there is no cursor here. The context is not that of an execution, or
// MonitorExecution is off, so that no claim protects a cursor.
var ErrNoCursor = exec.ErrNoCursor

const (
	// MaxCursor bounds the text of a cursor, in bytes: 16 KiB.
	MaxCursor = exec.MaxCursor
	// MaxOutput bounds what [SetOutput] keeps, in bytes: 64 KiB.
	MaxOutput = exec.MaxOutput
)

// Logger returns a logger for a handler. ctx is the context that the handler was given, or
// one derived from it; with any other context the logger writes nothing. The lines go where
// the scheduler's go, and each has the job, the item, the tick, the task id and the fencing
// token of the execution. A [Scope] may send them to another place, too: [LogTo].
func Logger(ctx context.Context) *slog.Logger { return exec.Logger(ctx) }

// PropertiesNow returns the properties in force at this moment: they may have changed since
// the execution began. ctx is the context that the handler was given, or one derived from it;
// with any other it returns none.
func PropertiesNow(ctx context.Context) Properties { return exec.PropertiesNow(ctx) }

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
func StopAsked(ctx context.Context) error { return exec.StopAsked(ctx) }

// SetOutput keeps a text with the record of the execution: observers get it with EventFinished.
// Of a text that is longer than MaxOutput only the end is kept. A later call replaces what was
// kept before. ctx is as for [Logger].
func SetOutput(ctx context.Context, output []byte) { exec.SetOutput(ctx, output) }

// Cursor returns where the item was left off: what an execution of it, here or elsewhere, gave
// to [MoveCursor] last. It is empty if the cursor was never moved, or was moved to "". It is
// read from the store. ctx is the context that the handler was given, or one derived from it.
//
// The cursor stays between executions. It goes when the item does, because the job has fewer
// items then.
//
// Errors: ErrNoCursor; the cause of ctx; those of the registry.
func Cursor(ctx context.Context) (string, error) { return exec.ReadCursor(ctx) }

// MoveCursor keeps how far the handler has come with the item, for [Cursor]: UTF-8 of up to
// [MaxCursor] bytes. It is one commit, on condition that nobody else has claimed the item
// since: so an execution that has lost its item cannot move the cursor, whatever it was told,
// and an execution that begins later sees every move of an earlier one. While the store is
// away it is tried again, until ctx ends. ctx is as for Cursor.
//
// Errors: jobtype.ErrItemLost if another execution of the item has begun, and then ctx ends; ErrNoCursor; the cause of
// ctx, and then it is not known whether the cursor was moved; those of the registry.
func MoveCursor(ctx context.Context, to string) error { return exec.MoveCursor(ctx, to) }

// LogTo returns a context, for a [Scope] to return, whose execution also writes its lines to a
// handler: those of [Logger], and what a script prints. They come without the attributes that Logger
// adds for the scheduler's own log. The handler is on the path of the execution's own calls, in any
// goroutine, so it must not wait for anything. It has levels of its own. If it panics, the line is
// missing there; that is logged, seldom.
func LogTo(ctx context.Context, h slog.Handler) context.Context { return exec.LogTo(ctx, h) }

// Propagate returns a context with a text that goes along to what an execution calls: a script
// finds it in its environment, under the name in capital letters with _ for -, and a server in
// its request as a header. So a [Scope] passes traceparent on. What the properties of the job
// say under the same name counts more. Other types of jobs may ask [Propagated].
//
// The name has up to 64 bytes: letters, digits, - and _, first a letter; small and capital
// letters are the same. The value has up to 8 KiB of UTF-8 without control characters. A context
// has up to 32 names. With an error the context is ctx.
func Propagate(ctx context.Context, name, value string) (context.Context, error) {
	return exec.Propagate(ctx, name, value)
}

// Propagated goes over what a context passes on, in the order of the names, which are in small
// letters.
func Propagated(ctx context.Context) iter.Seq2[string, string] { return exec.Propagated(ctx) }
