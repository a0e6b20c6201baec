package coordtest

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"
)

// stallDetector notices when the machine gives this process no time for a while. Then sessions end and
// calls time out, whatever the adapter does.
type stallDetector struct {
	mu      sync.Mutex
	last    time.Time
	stalled time.Time // when it went on after the last standstill
}

const (
	beat = 50 * time.Millisecond
	// maxStall is the longest stall that cannot change the outcome of a case: the margin between a
	// session's deadline and the end of its nodes.
	maxStall = briefTimeout / 10
)

// run beats until the context ends.
func (p *stallDetector) run(ctx context.Context) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		p.beat()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *stallDetector) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.last.IsZero() && now.Sub(p.last) > beat+maxStall {
		p.stalled = now
	}
	p.last = now
}

// hasStalled reports whether the process has stalled since a moment.
func (p *stallDetector) hasStalled(since time.Time) bool {
	p.beat() // a case may notice it first
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stalled.After(since)
}

// attempts is how often a case is tried on a machine that stalls again and again.
const attempts = 3

// test runs a case, and again if it failed while the machine stalled: only a fault of the adapter makes
// it fail each time.
func (c testCase) test(t *testing.T, store Store, namespace string, p *stallDetector) {
	for attempt := 1; ; attempt++ {
		begun := time.Now()
		e := newEnv(t, store, namespace)
		e.try(c)
		switch {
		case !e.Failed():
			return
		case attempt == attempts || !p.hasStalled(begun):
			t.Fail()
			return
		}
		t.Log("the machine stood still; once more")
		namespace += "-again"
	}
}

// try runs a case to its end, which may be a call of Fatal, and cleans up after it.
func (e *env) try(c testCase) {
	var running sync.WaitGroup
	running.Go(func() {
		defer e.cleanUp()
		pprof.Do(e.ctx, pprof.Labels("case", e.label()), func(context.Context) { c.run(e) })
	})
	running.Wait()
}

func (e *env) cleanUp() {
	for len(e.cleanups) > 0 {
		last := len(e.cleanups) - 1
		f := e.cleanups[last]
		e.cleanups = e.cleanups[:last]
		f()
	}
}

// Cleanup calls f when the attempt has ended, the last one first. It belongs to the case's own
// goroutine.
func (e *env) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

// Failed reports whether this attempt has failed.
func (e *env) Failed() bool { return e.failed.Load() }

// Error, Errorf, Fatal and Fatalf fail the attempt, and not yet the test.
func (e *env) Error(args ...any) {
	e.Helper()
	e.failed.Store(true)
	e.Log(args...)
}

func (e *env) Errorf(format string, args ...any) {
	e.Helper()
	e.failed.Store(true)
	e.Logf(format, args...)
}

func (e *env) Fatal(args ...any) {
	e.Helper()
	e.Error(args...)
	runtime.Goexit()
}

func (e *env) Fatalf(format string, args ...any) {
	e.Helper()
	e.Errorf(format, args...)
	runtime.Goexit()
}
