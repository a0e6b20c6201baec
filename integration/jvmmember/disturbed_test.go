package jvmmember_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// undisturbed does something that goes by ticks of real time. If it fails and the machine stood still
// meanwhile, because its host gave the CPUs to others, it is done anew: what was to come before a tick may
// have come after it.
func undisturbed(t *testing.T, do func(testing.TB)) {
	t.Helper()
	const still = 200 * time.Millisecond
	for again := 0; ; again++ {
		a := &attempt{TB: t}
		lost := stallsDuring(func() { a.run(do) })
		switch {
		case a.failure == "":
			return
		case lost < still || again == 5:
			t.Fatalf("%s\n(the machine stood still for %v)", a.failure, lost)
		}
		t.Logf("the machine stood still for %v; once more, because %.200s", lost, a.failure)
	}
}

// attempt is a test whose failure may be forgotten.
type attempt struct {
	testing.TB
	failure string
}

// run does something in a goroutine of its own, which Fatal ends.
func (a *attempt) run(do func(testing.TB)) {
	var doing sync.WaitGroup
	doing.Go(func() { do(a) })
	doing.Wait()
}

func (a *attempt) Errorf(format string, args ...any) {
	a.failure += fmt.Sprintf(format, args...) + "\n"
}

func (a *attempt) Fatalf(format string, args ...any) {
	a.Errorf(format, args...)
	runtime.Goexit()
}

func (a *attempt) Fatal(args ...any) { a.Fatalf("%s", fmt.Sprint(args...)) }

// stallsDuring does something, and returns for how long the machine has stood still meanwhile.
func stallsDuring(do func()) time.Duration {
	const most = 50 * time.Millisecond // a look at the time that comes later than this is a stall
	var lost time.Duration
	var watching sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	watching.Go(func() {
		for last := time.Now(); sleep.For(ctx, 10*time.Millisecond); {
			now := time.Now()
			if since := now.Sub(last); since > most {
				lost += since
			}
			last = now
		}
	})
	do()
	stop()
	watching.Wait()
	return lost
}
