package jobtype

import (
	"context"
	"log/slog"
	"time"
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
	// What it returns may also be a [SuccessHandler], a [StateHandler], and a [Flusher].
	ErrorHandler(c Config, log *slog.Logger) (ErrorHandler, error)
}

// SuccessHandler is an ErrorHandler that is told of executions that have succeeded, too: in
// the goroutine of the item, before the item has finished.
type SuccessHandler interface {
	HandleSuccess(ctx context.Context, sc ShardingContext)
}

// StateHandler is an ErrorHandler that is told how its job stands as a whole, too, so that it can tell of what has
// not happened. It is called in the goroutine of the scheduler, at least twice a minute and after most changes, and
// returns at once: nothing else of the job goes on meanwhile. Nobody calls it while there is no session.
type StateHandler interface {
	HandleState(s JobState)
}

// JobState is how a job stands as a whole. One instance sees that, the leader: for the others Leads is false, and
// what is below it is not set.
type JobState struct {
	JobName    string
	InstanceID string
	Now        time.Time // by the local clock, in the zone of the job
	Leads      bool

	// Faults are those of all instances, and of Runners that cannot start the job: 100 at most.
	Faults []InstanceFault
	// Unbegun is the first tick of those that have come and that no item has begun; zero if there is none, or an
	// execution goes on. It is zero for one-off jobs, in a pause, while all items or servers are disabled, while the
	// clock of the leader stops it, with MonitorExecution off, and beside JVM members.
	Unbegun time.Time
	// LastTick returns the last tick at or before a time. It is zero when Unbegun is, but for pauses.
	// Undone returns the items that have not ended with success for such a tick: neither for it, nor for a later one
	// whatever the outcome. They are for the time of the call.
	LastTick func(by time.Time) time.Time
	Undone   func(tick time.Time) []int
}

// InstanceFault is a fault that an instance has, or shows to others: then its Err is only a text, and its Kind is 0 if
// this version does not know it.
type InstanceFault struct {
	InstanceID string // the id of its process, if it is a Runner that cannot start the job
	Fault
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
