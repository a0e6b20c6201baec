package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also main for the instances that the show starts: it starts the program
// that it runs in, which is this test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == workerCommand {
		exitOn(workerMain(os.Args[2:], os.Stdin, os.Stdout), errorCode)
		return
	}
	goleak.VerifyTestMain(m)
}
