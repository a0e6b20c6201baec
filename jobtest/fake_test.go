package jobtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fakeTB is a test that remembers its failures.
type fakeTB struct {
	testing.TB
	failures []string
}

func (f *fakeTB) Errorf(format string, args ...any) {
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// Deadline is not part of testing.TB. In a bubble it panics.
func (f *fakeTB) Deadline() (time.Time, bool) {
	return f.TB.(interface{ Deadline() (time.Time, bool) }).Deadline()
}

func (f *fakeTB) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

// failuresOf returns what a test says when it fails; empty if it does not.
func failuresOf(t *testing.T, test func(testing.TB)) string {
	f := &fakeTB{TB: t}
	done := make(chan struct{})
	go func() { // Fatalf ends the goroutine
		defer close(done)
		test(f)
	}()
	<-done
	return strings.Join(f.failures, "\n")
}

// failureOf is failuresOf for a test that has to fail.
func failureOf(t *testing.T, test func(testing.TB)) string {
	t.Helper()
	failure := failuresOf(t, test)
	if failure == "" {
		t.Error("the test does not fail")
	}
	return failure
}
