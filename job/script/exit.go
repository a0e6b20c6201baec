package script

import (
	"fmt"
	"os"
)

// ExitError is in the error of an execution whose program has ended with a code that is
// neither one of success nor one of skipping, or by a signal.
type ExitError struct {
	// Program is the program, as the command names it.
	Program string
	// Code is the exit code, or -1 if a signal has ended it.
	Code int
	// Signal is what has ended it, or nil.
	Signal os.Signal
	// Stderr are the last lines of its standard error, up to 300 bytes.
	Stderr string
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != nil {
		text = fmt.Sprintf("ended by signal: %v", e.Signal)
	}
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}
