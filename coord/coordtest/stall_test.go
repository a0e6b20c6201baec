package coordtest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStandstillsAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p stallDetector
		begun := time.Now()
		for range 100 {
			p.beat()
			time.Sleep(beat + maxStall) // slow, and no standstill
		}
		if p.hasStalled(begun) {
			t.Error("a machine that is slow stood still")
		}
		time.Sleep(beat + maxStall + 1)
		if !p.hasStalled(begun) {
			t.Error("a standstill was not noticed")
		}
		if p.hasStalled(time.Now()) {
			t.Error("it counts for what began later")
		}
	})
}
