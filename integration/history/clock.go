package history

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Mono returns nanoseconds since the host started, by a clock that nobody can set and that
// is the same for all processes of the host.
func Mono() int64 {
	return read(unix.CLOCK_MONOTONIC)
}

// read returns what a clock of the host shows, in nanoseconds. Package time's may be changed, so that a
// process shows another time of day.
func read(clock int32) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(fmt.Sprintf("history: clock %d: %v", clock, err)) // every Linux has them
	}
	return t.Nano()
}

// Now returns an event of the kind with the time of this moment.
func Now(kind Kind) Event {
	return Event{Kind: kind, Mono: Mono(), Wall: time.Unix(0, read(unix.CLOCK_REALTIME)), Item: -1}
}

// How often a pulse beats, and by how much a beat has to be late to be written down.
const (
	pulse = 50 * time.Millisecond
	stall = 100 * time.Millisecond
)

// Pulse writes down, until ctx ends, when the machine gives this process no time. It writes
// the same after a signal stopped the process, which cannot tell the two apart.
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

// Took writes down that the store has taken long for a request, unless it was quick.
func (l *Log) Took(call int64) {
	if e := Now(Slow); time.Duration(e.Mono-call) > slowAnswer {
		e.Call = call
		l.Add(e)
	}
}
