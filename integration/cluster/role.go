package cluster

import (
	"io"
	"os"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// roleVariable tells a process that was started from our own executable what it is.
const roleVariable = "ELASTICJOB_INTEGRATION_ROLE"

// The roles.
const (
	roleWorker = "worker"
	roleBroom  = "broom"
)

// PlayRole is the first thing that a program or a test that uses this package does: the
// processes of a cluster are started from its own executable. In one of them PlayRole
// does not return.
func PlayRole() {
	supervisor := script.Supervise()
	switch os.Getenv(roleVariable) {
	case roleWorker:
		os.Exit(worker.Main(supervisor))
	case roleBroom:
		os.Exit(sweep(os.Stdin, os.Args[len(os.Args)-1]))
	}
}

// sweep removes a folder when its input ends, which it also does when the process that
// started it is killed. What others still write to the folder is tried again.
func sweep(in io.Reader, folder string) int {
	_, _ = io.Copy(io.Discard, in)
	for range 20 {
		if os.RemoveAll(folder) == nil {
			return 0
		}
		time.Sleep(50 * time.Millisecond) // no signal tells when the last writer has ended
	}
	return 1
}
