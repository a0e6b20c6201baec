package history

import (
	"context"
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

// How often a pulse beats, and by how much a beat has to be late to be written down.
const (
	pulse = 50 * time.Millisecond
	stall = 100 * time.Millisecond
)

// Pulse writes down, until ctx ends, when the machine has no time for this process. A
// process that was stopped by a signal cannot tell that from the inside.
func (l *Log) Pulse(ctx context.Context) {
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	last := Mono()
	for {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
		e := Now(Stall)
		if time.Duration(e.Mono-last) > pulse+stall {
			e.Call = last + int64(pulse)
			l.Add(e)
		}
		last = e.Mono
	}
}
