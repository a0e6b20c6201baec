package coordtest

import (
	"maps"
	"sync"
	"testing"
)

// What another case starts at the same time is not left over by this one.
func TestGoroutinesOfACase(t *testing.T) {
	var started sync.WaitGroup
	stop := make(chan struct{})
	start := func(*env) { started.Go(func() { <-stop }) }
	own, other := newEnv(t, nil, "own"), newEnv(t, nil, "other")
	own.try(testCase{run: func(*env) {
		before := own.goroutines()
		other.try(testCase{run: start})
		if now := own.goroutines(); !maps.Equal(now, before) {
			t.Errorf("another case's are counted: %v, before %v", now, before)
		}
		start(own)
		if now := own.goroutines(); len(now) != len(before)+1 {
			t.Errorf("counted: %v, before %v", now, before)
		}
	}})
	close(stop)
	started.Wait()
}
