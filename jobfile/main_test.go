package jobfile_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
)

func TestMain(m *testing.M) {
	script.Supervise()
	// The goroutine of package os/signal never ends, so it must not begin in a bubble.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	goleak.VerifyTestMain(m)
}
