package simulation

import (
	"flag"
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var (
	full  = flag.Bool("full", false, "run a whole day with 1,000 instances and 10,000 items instead of a small part of one")
	seed  = flag.Uint64("seed", 1, "what happens in the day, and when")
	seeds = flag.Int("seeds", 1, "how many days to run, with this seed and those after it")
)

// replay is the command that runs a day once more.
func replay(seed uint64) string {
	size := ""
	if *full {
		size = " -full"
	}
	return fmt.Sprintf("go test ./integration/simulation -run TestDay%s -seed %d -v", size, seed)
}

// TestDay runs the scheduler through days of faults, and checks what is promised. See the
// package comment for what that is.
func TestDay(t *testing.T) {
	if *full {
		// Most memory is garbage at the next instant, so the collector need not run often.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	for i := range *seeds {
		seed := *seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			size := partOfDay()
			if *full {
				size = fullDay()
			}
			c := newCounts()
			watch := startWatch(t, c)
			synctest.Test(t, func(t *testing.T) { newSimulation(t, size, seed, c).run() })
			c.took, c.cpu = watch.stop()
			t.Log(c.summary(size, seed))
		})
	}
}

// watch shows the progress of a day in real time, from outside of the virtual time.
type watch struct {
	begin time.Time
	cpu   time.Duration // that the process had used at the start
	done  chan struct{}
	over  chan struct{}
}

func startWatch(t *testing.T, c *counts) *watch {
	w := &watch{begin: time.Now(), cpu: cpuTime(), done: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(w.over)
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				t.Logf("%v: %s", time.Since(w.begin).Round(time.Second), c.progress())
			case <-w.done:
				return
			}
		}
	}()
	return w
}

func (w *watch) stop() (took, cpu time.Duration) {
	close(w.done)
	<-w.over
	return time.Since(w.begin), cpuTime() - w.cpu
}

// cpuTime is the processor time that this process has used. On a busy machine it says more
// than the time that has passed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
