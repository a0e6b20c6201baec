package etcd

import (
	"testing"
	"time"
)

// The header has lost the fraction of a second, and the answer takes some time. The true
// time lies within the uncertainty all the same, and a clock that is 1.3 s ahead never
// seems to be 2 s ahead.
func TestClockReadingHoldsTheTruth(t *testing.T) {
	local := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{0, 300 * time.Millisecond, 1300 * time.Millisecond, -1300 * time.Millisecond, 2999 * time.Millisecond, time.Hour} {
		for step := range 100 {
			before := local.Add(time.Duration(step) * 10 * time.Millisecond)
			for _, took := range []time.Duration{0, 40 * time.Millisecond, 900 * time.Millisecond} {
				for _, at := range []time.Duration{0, took / 2, took} {
					reading := clockReading{before, before.Add(took), before.Add(at).Add(-ahead).Truncate(time.Second)}
					offset, uncertainty := reading.offset()
					if off := (offset + ahead).Abs(); off > uncertainty || uncertainty != (time.Second+took)/2 {
						t.Fatalf("%v ahead: offset %v ± %v", ahead, offset, uncertainty)
					}
				}
			}
		}
	}
}

func TestMedianOfClocks(t *testing.T) {
	now := time.Now()
	reading := func(ahead time.Duration) clockReading { return clockReading{now, now, now.Add(ahead)} }
	for _, c := range []struct {
		ahead []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{time.Minute}, time.Minute},
		{[]time.Duration{time.Hour, time.Second, 0}, time.Second},
		{[]time.Duration{0, -24 * time.Hour, time.Second}, 0},
	} {
		var readings []clockReading
		for _, ahead := range c.ahead {
			readings = append(readings, reading(ahead))
		}
		clock, ok := median(readings)
		if !ok || !clock.Known() {
			t.Fatal("no clock")
		}
		local := time.Now()
		if got := clock.Now().Sub(local.Round(0)) - c.want; got < 0 || got > time.Second {
			t.Errorf("%v: %v ahead, want %v and up to a second more", c.ahead, got+c.want, c.want)
		}
	}
	if _, ok := median(nil); ok {
		t.Error("a clock of nothing")
	}
}
