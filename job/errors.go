package job

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/engine"
	"github.com/elasticjob-go/elasticjob/internal/engine/diagnose"
	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Errors that package jobtype says more about. The first ones are the causes with which the context of a handler ends.
var (
	ErrTimeout  = jobtype.ErrTimeout
	ErrKilled   = jobtype.ErrKilled
	ErrShutdown = jobtype.ErrShutdown
	ErrItemLost = jobtype.ErrItemLost

	ErrItemMoves = jobtype.ErrItemMoves
	ErrDisabled  = jobtype.ErrDisabled

	ErrListenerTimeout = jobtype.ErrListenerTimeout
	ErrTooManyTicks    = jobtype.ErrTooManyTicks

	ErrJobRemoved             = jobtype.ErrJobRemoved
	ErrInstanceRemoved        = jobtype.ErrInstanceRemoved
	ErrImplementationConflict = jobtype.ErrImplementationConflict
	ErrKindConflict           = jobtype.ErrKindConflict
	ErrOldMembers             = jobtype.ErrOldMembers
	ErrNoItem                 = jobtype.ErrNoItem
	ErrNobodyRunsIt           = jobtype.ErrNobodyRunsIt
	ErrQueueFull              = jobtype.ErrQueueFull
	ErrKeyUsed                = jobtype.ErrKeyUsed
	ErrNoRequest              = jobtype.ErrNoRequest
)

// Errors of this package that a program may want to tell apart.
var (
	// ErrInHandler: a handler of the job has called Shutdown, which waits for the handler.
	ErrInHandler = engine.ErrInHandler
	// ErrJobTwice: the node runs a job of that name already.
	ErrJobTwice = runner.ErrInUse
	// ErrNodeClosed: Shutdown of the node was called.
	ErrNodeClosed = errors.New("job: node shut down")
	// ErrClock: this host's clock is farther from the store's than Config.MaxTimeDiff
	// allows. Status.Fault returns it.
	ErrClock = diagnose.ErrClock
)
