package coordtest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStandstillsAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		begun := time.Now()
		for range 100 {
			p.beat()
			time.Sleep(beat + standstill) // slow, and no standstill
		}
		if p.stoodStill(begun) {
			t.Error("a machine that is slow stood still")
		}
		time.Sleep(beat + standstill + 1)
		if !p.stoodStill(begun) {
			t.Error("a standstill was not noticed")
		}
		if p.stoodStill(time.Now()) {
			t.Error("it counts for what began later")
		}
	})
}
