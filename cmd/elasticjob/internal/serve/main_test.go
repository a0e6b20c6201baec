package serve

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pass lets time pass in the bubble. It panics outside of one, where a test must not sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
