package job

import (
	"context"
	"time"
)

// Handler does the work of one sharding item. It is called from several goroutines
// at once, one for each item that runs here.
//
// ctx ends when the item may no longer be worked on: the session is about to be lost,
// the item was taken away, the time-out passed, the scheduler shuts down, the job was
// removed, or the registry was closed; context.Cause tells which. It ends early enough
// that a handler that returns then has stopped before the item can start elsewhere. One
// that cannot stop must pass ShardingContext.Token to whatever it writes to (fencing).
//
// An error, or a panic, is the failure of this item only; it goes to the job's
// ErrorHandler after Config.Retry is used up. What a handler returns after its context
// ended is no failure, unless it ended by the time-out: the execution was cut short.
type Handler interface {
	Execute(ctx context.Context, sc ShardingContext) error
}

// HandlerFunc is a Handler made of a function.
type HandlerFunc func(ctx context.Context, sc ShardingContext) error

// Execute calls f.
func (f HandlerFunc) Execute(ctx context.Context, sc ShardingContext) error { return f(ctx, sc) }

// Source says why an item runs. The names are ElasticJob's execution sources; MANUAL
// is ours.
type Source int

// The sources of an execution.
const (
	// SourceNormal: its tick came due.
	SourceNormal Source = iota + 1
	// SourceMisfire: it makes up for ticks that were missed, all of them at once.
	SourceMisfire
	// SourceFailover: the run was begun before and cut short by the end of its instance.
	SourceFailover
	// SourceManual: it was triggered, by an operator or a one-off job.
	SourceManual
)

func (s Source) String() string {
	switch s {
	case SourceNormal:
		return "NORMAL_TRIGGER"
	case SourceMisfire:
		return "MISFIRE"
	case SourceFailover:
		return "FAILOVER"
	case SourceManual:
		return "MANUAL"
	}
	return "UNKNOWN"
}

// ShardingContext is what a handler is told about its execution.
type ShardingContext struct {
	// JobName is Config.Name.
	JobName string
	// TaskID is unique to this execution and sorts by time (a UUID of version 7).
	// Retries of one execution share it.
	TaskID string
	// InstanceID is the instance that runs the item.
	InstanceID string
	// Item is the sharding item, from 0 to Total-1.
	Item int
	// ItemParameter is the item's part of Config.ShardingItemParameters, or empty.
	ItemParameter string
	// JobParameter is Config.JobParameter, or the parameter of a manual trigger that
	// has one.
	JobParameter string
	// Properties are Config.Props, for reading.
	Properties Properties
	// Total is Config.ShardingTotalCount.
	Total int
	// ScheduledTime is the tick that this execution is for, in the job's time zone:
	// of a make-up the last one missed, of a failover the one that was begun, of a
	// manual execution when its instance took it.
	ScheduledTime time.Time
	// Source is why it runs.
	Source Source
	// Attempt is 1, and one more for each retry.
	Attempt int
	// Token is the fencing token: larger than that of every earlier execution of
	// this item, wherever it ran. A store that refuses writes with a smaller token
	// than it has seen is safe from an execution that was thought dead:
	//
	//	UPDATE … SET …, fence = $token WHERE id = $id AND fence <= $token
	//
	// It is 0 with MonitorExecution off, which has no claims.
	Token int64
}

// ErrorHandler is told of the failed executions of a job. It is called in the
// goroutine of the item, before the item counts as finished, with a context that does
// not end: it holds one of the job's threads as long as it takes.
type ErrorHandler interface {
	HandleError(ctx context.Context, sc ShardingContext, err error)
}

// ErrorHandlerFunc is an ErrorHandler made of a function.
type ErrorHandlerFunc func(ctx context.Context, sc ShardingContext, err error)

// HandleError calls f.
func (f ErrorHandlerFunc) HandleError(ctx context.Context, sc ShardingContext, err error) {
	f(ctx, sc, err)
}
