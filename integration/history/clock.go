package history

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Mono reads the clock that all processes of a host share and that nobody sets:
// nanoseconds since the host started.
func Mono() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(fmt.Sprintf("history: no monotonic clock: %v", err)) // every Linux has one
	}
	return t.Nano()
}

// Now is an event of the kind at this moment.
func Now(kind Kind) Event {
	return Event{Kind: kind, Mono: Mono(), Wall: time.Now().Round(0), Item: -1}
}
