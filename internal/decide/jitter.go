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

// delaySlot returns which of the jitterSlots delays an item has. It is the same on every instance and for
// every tick: so the time between two starts of an item is the time between its ticks, and two of them do
// not run into each other.
func (w *World) delaySlot(item int) time.Duration {
	if t := &w.ticks; t.base == 0 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w.Job)) // a hash returns no error
		t.base = h.Sum64() | 1
	}
	return time.Duration((w.ticks.base + uint64(item)*golden) >> 56) // the first 8 bits: jitterSlots
}

// delay returns how long after a tick an item starts, if the next tick comes after interval. It is less
// than interval: so an item has begun a tick before the next one comes.
func (w *World) delay(item int, interval time.Duration) time.Duration {
	return min(w.Rules.Jitter, interval) / jitterSlots * w.delaySlot(item)
}

// LastTickOf is LastTick for an item: with jitter, the last tick whose delay for the item is over.
func (w *World) LastTickOf(item int) time.Time {
	tick := w.LastTick()
	if w.Rules.Jitter == 0 || tick.IsZero() || !w.Now.Before(tick.Add(w.delay(item, w.ticks.interval))) {
		return tick
	}
	return w.ticks.before
}

// startTime returns when an item is to start for a tick: the tick plus the item's delay.
func (w *World) startTime(item int, tick time.Time) time.Time {
	if w.Rules.Jitter == 0 || tick.IsZero() || w.Rules.Ticks == nil {
		return tick
	}
	return tick.Add(w.delay(item, w.intervalAfter(tick)))
}

// intervalAfter returns how long after a tick the next one comes; Jitter if none does.
func (w *World) intervalAfter(tick time.Time) time.Duration {
	switch last := w.LastTick(); {
	case tick.Equal(last):
		return w.ticks.interval
	case tick.Equal(w.ticks.before): // spares asking Ticks for each item, which a calendar makes slow
		return last.Sub(tick)
	}
	if next := w.Rules.Ticks.Next(tick); !next.IsZero() {
		return next.Sub(tick)
	}
	return w.Rules.Jitter
}

// ElapsedSlots returns how many of the delays after the last tick are over. It changes just when further
// items may start.
func (w *World) ElapsedSlots() int {
	if w.Rules.Jitter == 0 || w.LastTick().IsZero() {
		return 0
	}
	unit := min(w.Rules.Jitter, w.ticks.interval) / jitterSlots
	return int(min(w.Now.Sub(w.LastTick())/max(unit, 1), jitterSlots))
}

// NextStart returns when the next item of this instance starts for the last tick; zero if none does.
func (w *World) NextStart() time.Time {
	tick := w.LastTick()
	if w.Rules.Jitter == 0 || tick.IsZero() || w.IsPaused() {
		return time.Time{}
	}
	var next time.Time
	for i := range w.itemCount() {
		if !w.owns(&w.Items[i]) {
			continue
		}
		if at := tick.Add(w.delay(i, w.ticks.interval)); at.After(w.Now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
