package job_test

import (
	"sync/atomic"
	"testing"
	"time"
)

// pulse tells how long this process got no CPU. A machine may stand still for a dozen seconds, and
// ticks that come meanwhile are missed, which is nobody's fault.
type pulse struct{ longest atomic.Int64 }

// stoodStill reports whether ticks may have been missed since the pulse began.
func (p *pulse) stoodStill() bool { return time.Duration(p.longest.Load()) > 400*time.Millisecond }

// feelPulse begins a pulse that ends with the test. In virtual time no machine stands still.
func (c *cluster) feelPulse() *pulse {
	c.Helper()
	p := &pulse{}
	if !c.isReal() {
		return p
	}
	const beat = 50 * time.Millisecond
	ended, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for last := time.Now(); ; {
			select {
			case <-ticker.C:
				now := time.Now()
				p.longest.Store(max(p.longest.Load(), int64(now.Sub(last)-beat)))
				last = now
			case <-stop:
				return
			}
		}
	}()
	c.Cleanup(func() { close(stop); <-ended })
	return p
}

// undisturbed does something on which ticks must be on time, once more if the machine stood still.
func (c *cluster) undisturbed(t *testing.T, do func() (wrong string)) {
	t.Helper()
	for again := 0; ; again++ {
		p := c.feelPulse()
		wrong := do()
		if wrong == "" {
			return
		}
		if !p.stoodStill() || again == 10 {
			t.Error(wrong)
			return
		}
	}
}
