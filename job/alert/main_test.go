package alert_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pass lets time pass, and waits until nothing is left to be done then. Outside of a bubble it panics.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
