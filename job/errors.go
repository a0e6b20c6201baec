package job

import (
	"errors"
	"fmt"
)

// The causes with which a handler's context ends (context.Cause), beside the ones
// that the session brings: coord.ErrSessionLost, and coord.ErrClosed after Close of the
// registry.
var (
	// ErrTimeout: the item ran for longer than Config.Timeout.
	ErrTimeout = errors.New("job: execution timed out")
	// ErrShutdown: the scheduler was told to stop, and its time to drain is over.
	ErrShutdown = errors.New("job: scheduler shut down")
	// ErrItemLost: the registry no longer has the item as running here; somebody
	// else claimed it or removed the record.
	ErrItemLost = errors.New("job: item lost")
	// ErrJobRemoved: the job was removed from the registry.
	ErrJobRemoved = errors.New("job: job removed from the registry")
)

// What callers of this package branch on.
var (
	// ErrInstanceRemoved: an operator removed this instance, so its scheduler
	// stopped. A new one may be started in the same process.
	ErrInstanceRemoved = errors.New("job: instance removed by an operator")
	// ErrImplementationConflict: the registry has this job with another
	// implementation name. See WithImplementation.
	ErrImplementationConflict = errors.New("job: implementation conflict")
	// ErrKindConflict: a job with a cron expression was found without one, or the
	// other way round. The kind of a job does not change.
	ErrKindConflict = errors.New("job: scheduled and one-off jobs do not turn into each other")
	// ErrConfigDiffers: the registry has another configuration than the program gives,
	// and WithPrecedence(PrecedenceNone) asks for the same. The error lists the fields.
	ErrConfigDiffers = errors.New("job: the configuration in the registry differs")
	// ErrNoInstance: no enabled instance that could take a trigger.
	ErrNoInstance = errors.New("job: no instance available")
	// ErrInHandler: a handler of the job has called Shutdown, which waits for the handler.
	ErrInHandler = errors.New("job: Shutdown called by a handler of the same job")
	// ErrClock: this host's clock is farther from the store's than
	// Config.MaxTimeDiff allows. It stands in Status.Fault.
	ErrClock = errors.New("job: clock too far from the store's")
)

// errGoexit is the outcome of a handler that ended its goroutine.
var errGoexit = errors.New("job: handler called runtime.Goexit")

// errEnded is why a scheduler stops whose own goroutine somebody has ended.
var errEnded = errors.New("job: the scheduler was ended by runtime.Goexit in what it called")

// PanicError is the error of an item whose handler panicked, or of a scheduler that did.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("job: panic: %v", e.Value) }
