package job_test

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// setClock is a wall clock that a test sets. Its times carry monotonic readings, which do not show
// that it was set: so it is with time.Now in a real process. In virtual time time.Now has no such readings.
type setClock struct{ offset atomic.Int64 }

func (c *setClock) now() time.Time {
	now := time.Now()
	return withReading(now.Add(time.Duration(c.offset.Load())), now.Sub(time.Date(1999, time.January, 1, 0, 0, 0, 0, time.UTC)))
}

func (c *setClock) set(offset time.Duration) { c.offset.Store(int64(offset)) }

// withReading returns a time with a monotonic reading. Only time.Now makes such times, so this goes by how
// package time keeps them: a bit that says so, seconds since 1885 and nanoseconds in one word, the reading in
// another.
func withReading(t time.Time, reading time.Duration) time.Time {
	seconds := t.Unix() - time.Date(1885, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	inside := struct {
		wall     uint64
		reading  int64
		location *time.Location
	}{1<<63 | uint64(seconds)<<30 | uint64(t.Nanosecond()), int64(reading), time.Local}
	return *(*time.Time)(unsafe.Pointer(&inside))
}

func TestSetClock(t *testing.T) {
	day := time.Date(2026, time.January, 5, 10, 0, 0, 123, time.UTC)
	before, after := withReading(day.Add(time.Hour), time.Second), withReading(day, 2*time.Second)
	if got := after.Sub(before); got != time.Second {
		t.Errorf("by the readings it is %v", got)
	}
	if got := after.Round(0).Sub(before.Round(0)); got != -time.Hour {
		t.Errorf("by the clock it is %v", got)
	}
	if !after.Round(0).Equal(day) {
		t.Errorf("it shows %v, want %v", after, day)
	}
}
