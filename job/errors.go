package job

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
	"github.com/elasticjob-go/elasticjob/jobtype"
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

// Errors that tools know, too: package jobtype says what they mean.
var (
	ErrJobRemoved             = jobtype.ErrJobRemoved
	ErrInstanceRemoved        = jobtype.ErrInstanceRemoved
	ErrImplementationConflict = jobtype.ErrImplementationConflict
	ErrKindConflict           = jobtype.ErrKindConflict
	ErrNoItem                 = jobtype.ErrNoItem
	ErrNoInstance             = jobtype.ErrNoInstance
	ErrQueueFull              = jobtype.ErrQueueFull
	ErrKeyUsed                = jobtype.ErrKeyUsed
	ErrNoRequest              = jobtype.ErrNoRequest
)

// Errors of this package that a program may want to tell apart.
var (
	// ErrConfigDiffers: the configuration in the registry differs from the program's, and
	// the program starts with PrecedenceNone. The error lists the fields.
	ErrConfigDiffers = errors.New("job: the configuration in the registry differs")
	// ErrInHandler: a handler of the job has called Shutdown, which waits for the handler.
	ErrInHandler = errors.New("job: Shutdown called by a handler of the same job")
	// ErrJobTwice: the node runs a job of that name already.
	ErrJobTwice = runner.ErrInUse
	// ErrNodeClosed: Shutdown of the node was called.
	ErrNodeClosed = errors.New("job: node shut down")
	// ErrClock: this host's clock is farther from the store's than Config.MaxTimeDiff
	// allows. Status.Fault returns it.
	ErrClock = errors.New("job: clock too far from the store's")
)

// errGoexit is the error of a handler that called runtime.Goexit.
var errGoexit = errors.New("job: handler called runtime.Goexit")

// errEnded is the error of a scheduler whose goroutine was ended by runtime.Goexit, in
// something that it called.
var errEnded = runner.ErrEnded

// PanicError is the error of an item whose handler panicked, or of a scheduler that panicked.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("job: panic: %v", e.Value) }
