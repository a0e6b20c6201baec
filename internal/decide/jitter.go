package decide

import (
	"hash/fnv"
	"time"
)

// jitterSlots is how many different delays there are. So a job with many items does not make
// a pass for each of them.
const jitterSlots = 256

// golden is 2^64 divided by the golden ratio. Its multiples are spread evenly over the numbers
// of 64 bits, however many of them there are.
const golden = 0x9e3779b97f4a7c15

// slot returns which of the delays an item has. Every instance gets the same answer, for every
// tick: so the time between two starts of an item is the time between its ticks, and two of
// them do not run into each other.
func (w *World) slot(item int) time.Duration {
	if t := &w.ticked; t.base == 0 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w.Job)) // a hash returns no error
		t.base = h.Sum64() | 1
	}
	return time.Duration((w.ticked.base + uint64(item)*golden) >> 56) // the first 8 bits: jitterSlots
}

// delay is how long after a tick an item starts, if the next tick comes after span. It is less
// than span: so an item has begun a tick before the next one comes.
func (w *World) delay(item int, span time.Duration) time.Duration {
	return min(w.Rules.Jitter, span) / jitterSlots * w.slot(item)
}

// LastTickOf returns the last tick at which an item was to start at or before now; zero if
// there is none since the schedule was put in force.
func (w *World) LastTickOf(item int) time.Time {
	tick := w.LastTick()
	if w.Rules.Jitter == 0 || tick.IsZero() || !w.Now.Before(tick.Add(w.delay(item, w.ticked.span))) {
		return tick
	}
	return w.ticked.before
}

// startOf returns when an item is to start for a tick.
func (w *World) startOf(item int, tick time.Time) time.Time {
	if w.Rules.Jitter == 0 || tick.IsZero() || w.Rules.Ticks == nil {
		return tick
	}
	return tick.Add(w.delay(item, w.spanOf(tick)))
}

// spanOf returns how long after a tick the next one comes; a long time if none does.
func (w *World) spanOf(tick time.Time) time.Duration {
	switch last := w.LastTick(); {
	case tick.Equal(last):
		return w.ticked.span
	case tick.Equal(w.ticked.before): // it is asked for many items, and a calendar takes its time
		return last.Sub(tick)
	}
	if next := w.Rules.Ticks.Next(tick); !next.IsZero() {
		return next.Sub(tick)
	}
	return w.Rules.Jitter
}

// Slot returns how many delays after the last tick are over. It is the same from one start of
// items to the next.
func (w *World) Slot() int {
	if w.Rules.Jitter == 0 || w.LastTick().IsZero() {
		return 0
	}
	unit := min(w.Rules.Jitter, w.ticked.span) / jitterSlots
	return int(min(w.Now.Sub(w.LastTick())/max(unit, 1), jitterSlots))
}

// NextStart returns when an item of this instance is to start next for the last tick; zero if
// none is.
func (w *World) NextStart() time.Time {
	tick := w.LastTick()
	if w.Rules.Jitter == 0 || tick.IsZero() || w.IsPaused() {
		return time.Time{}
	}
	var next time.Time
	for i := range w.items() {
		if !w.owns(&w.Items[i]) {
			continue
		}
		if at := tick.Add(w.delay(i, w.ticked.span)); at.After(w.Now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
