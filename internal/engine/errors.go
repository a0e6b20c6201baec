package engine

import "errors"

// Errors that package job has, too.
var (
	// ErrConfigDiffers: the configuration in the registry differs from the program's, and
	// the program starts with PrecedenceNone. The error lists the fields.
	ErrConfigDiffers = errors.New("job: the configuration in the registry differs")
	// ErrInHandler: a handler of the job has called Shutdown, which waits for the handler.
	ErrInHandler = errors.New("job: Shutdown called by a handler of the same job")
	// ErrClock: this host's clock is farther from the store's than Config.MaxTimeDiff
	// allows. Status.Fault returns it.
	ErrClock = errors.New("job: clock too far from the store's")
)
