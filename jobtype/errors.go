package jobtype

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Errors that programs and tools may want to tell apart.
var (
	// ErrJobRemoved: the job was removed from the registry. A start fails with it, too, unless the
	// program's Config.Revision is higher than that of the configuration that was removed.
	ErrJobRemoved = errors.New("job: job removed from the registry")
	// ErrInstanceRemoved: an operator has removed this instance, so its scheduler has
	// stopped. A new one may be started in the same process; a Runner starts none until the job is
	// created anew.
	ErrInstanceRemoved = errors.New("job: instance removed by an operator")
	// ErrImplementationConflict: another program runs this job, by the name of its implementation.
	ErrImplementationConflict = errclass.FailedPrecondition.New("implementation-conflict", "job: implementation conflict")
	// ErrKindConflict: the program gives a cron expression and the registry has none, or the
	// other way round. A job does not change its kind.
	ErrKindConflict = errclass.FailedPrecondition.New("kind-conflict", "job: scheduled and one-off jobs do not turn into each other")
	// ErrOldMembers: the program's configuration is to replace a document of elastic-job 2.1 (Overwrite, or a larger
	// Revision) while members of 2.1 live, which read no other document.
	ErrOldMembers = errclass.FailedPrecondition.New("old-members", "job: members of elastic-job 2.1 run the job, and would run nothing once its configuration is written here: stop them first")
	// ErrInvalidConfig is in the chain of every *ConfigError.
	ErrInvalidConfig = errclass.InvalidArgument.New("invalid-config", "job: invalid configuration")
	// ErrNoItem: the job has no item of that number.
	ErrNoItem = errclass.NotFound.New("no-item", "job: no such item")
	// ErrNobodyRunsIt: there is no enabled instance that could take a trigger.
	ErrNobodyRunsIt = errclass.FailedPrecondition.New("nobody-runs-it", "job: no instance available")
	// ErrNoRequest: there is no such request, or not any more.
	ErrNoRequest = errclass.NotFound.New("no-request", "job: no such request")
	// ErrQueueFull: so many requests wait that there is no room for another one.
	ErrQueueFull = jobtree.ErrQueueFull
	// ErrKeyUsed: a request with this key stands there that asks for something else.
	ErrKeyUsed = jobtree.ErrKeyUsed
)

// The causes with which the context of a handler ends (context.Cause). There are two more:
// coord.ErrSessionLost, and coord.ErrClosed after Close of the registry.
var (
	// ErrTimeout: the item ran for longer than Config.Timeout.
	ErrTimeout = errors.New("job: execution timed out")
	// ErrKilled: an operator has ended this execution.
	ErrKilled = errors.New("job: execution killed")
	// ErrShutdown: the context of Shutdown has ended, and with it the time to finish.
	ErrShutdown = errors.New("job: scheduler shut down")
	// ErrItemLost: this execution does not hold the item any more, because another instance
	// has claimed it, the item was removed, or somebody has removed or replaced the nodes of
	// this instance.
	ErrItemLost = errors.New("job: item lost")
)

// The reasons why StopAsked asks a handler to stop, besides ErrShutdown.
var (
	// ErrItemMoves: another instance is to run the item, as soon as it does not run here.
	ErrItemMoves = errors.New("job: the item is to move to another instance")
	// ErrDisabled: an operator has disabled the item, or all servers.
	ErrDisabled = errors.New("job: the item or the server is disabled")
)

// PanicError is the error of an item whose handler panicked, or of another function of the program that did.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("job: panic: %v", e.Value) }

// NoRetry returns an error with which a handler says that another attempt would fail, too:
// the execution fails at once, whatever Config.Retry allows. nil stays nil.
func NoRetry(err error) error {
	if err == nil {
		return nil
	}
	return noRetry{err}
}

type noRetry struct{ error }

func (e noRetry) Unwrap() error { return e.error }

// IsFinal reports whether an error comes from NoRetry. The methods of an error are the program's: if they panic, it does not.
func IsFinal(err error) (final bool) {
	defer func() { _ = recover() }() // then it is not final
	_, final = errors.AsType[noRetry](err)
	return final
}
