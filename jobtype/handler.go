package jobtype

import (
	"context"
	"log/slog"
	"time"
)

// Handler does the work of one sharding item. It is called from several goroutines at once,
// one for each item that runs here.
//
// ctx ends when the work on the item has to stop: the session is about to be lost, the item
// is lost to another instance, the time-out has passed, an operator has killed the execution,
// the scheduler shuts down, the job was removed, or the registry was closed; context.Cause
// tells which. ctx ends early enough:
// a handler that returns then has stopped before the item can start elsewhere. A handler
// that cannot stop must pass ShardingContext.Token to whatever it writes to (fencing).
//
// An error or a panic fails this item only. It goes to the job's error handlers once
// Config.Retry is used up. If ctx has ended for another reason than the time-out, the
// execution was cut short, and what the handler returns is not a failure.
type Handler interface {
	Execute(ctx context.Context, sc ShardingContext) error
}

// HandlerFunc makes a Handler of a function.
type HandlerFunc func(ctx context.Context, sc ShardingContext) error

// Execute calls f.
func (f HandlerFunc) Execute(ctx context.Context, sc ShardingContext) error { return f(ctx, sc) }

// ShardingContext is what a handler is told about its execution.
type ShardingContext struct {
	// JobName is Config.Name.
	JobName string
	// TaskID is the id of this execution, the same in all its attempts. Ids are unique, and sort
	// by ScheduledTime (UUID version 8; with MonitorExecution off version 7, by the time at which
	// they begin).
	TaskID string
	// InstanceID is the instance that runs the item.
	InstanceID string
	// Item is the sharding item, from 0 to Total-1; in a broadcast job it may be larger.
	Item int
	// ItemParameter is the item's part of Config.ShardingItemParameters, or empty.
	ItemParameter string
	// JobParameter is the parameter of the request that the item runs for, or else
	// Config.JobParameter.
	JobParameter string
	// Properties are Config.Props, for reading.
	Properties Properties
	// Total is Config.ShardingTotalCount. In a broadcast job it is how many items had an owner
	// when this instance claimed its own: the instances that run the tick, if none comes or goes.
	Total int
	// ScheduledTime is the tick that this execution is for, in the job's time zone. If it
	// makes up for ticks, it is the last one missed; after a failover, the tick of the
	// execution that was cut short; after a trigger, the time at which the item was claimed; in
	// a retry or a backfill, the tick that it was asked for. It has whole milliseconds, so a key that is
	// made of it has to have them, too: two triggers may be claimed in one second.
	ScheduledTime time.Time
	// Source is why it runs.
	Source Source
	// Attempt is 1 for the first attempt, and one more for each retry.
	Attempt int
	// Token is the fencing token. It is larger than the token of every earlier execution of
	// this item, on any instance. A store that has seen a token has to refuse writes with a
	// smaller one; then an old execution that still runs does no harm:
	//
	//	UPDATE … SET …, fence = $token WHERE id = $id AND fence <= $token
	//
	// Tokens are of one item of one job. Different items may have the same token at the same
	// time, and an old token of one may be larger than a new one of another. So each item
	// needs a fence of its own: a row that only this item writes, or the job and the item in
	// the key. A fence that items or jobs share refuses writes that are right.
	//
	// It is 0 with MonitorExecution off, because there are no claims then.
	Token int64
}

// ErrorHandler is told of the failed executions of a job. It is called in the goroutine of
// the item, before the item has finished, so it keeps one of the job's threads busy until it
// returns. Its context does not end.
type ErrorHandler interface {
	HandleError(ctx context.Context, sc ShardingContext, err error)
}

// ErrorHandlerFunc makes an ErrorHandler of a function, and an [ErrorHandlerType] that returns it for
// every configuration.
type ErrorHandlerFunc func(ctx context.Context, sc ShardingContext, err error)

// HandleError calls f.
func (f ErrorHandlerFunc) HandleError(ctx context.Context, sc ShardingContext, err error) {
	f(ctx, sc, err)
}

// ErrorHandler returns f.
func (f ErrorHandlerFunc) ErrorHandler(Config, *slog.Logger) (ErrorHandler, error) { return f, nil }
