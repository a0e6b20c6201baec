//go:build linux

package script_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
)

func TestMain(m *testing.M) {
	s := script.Supervise()
	if len(os.Args) > 1 && os.Args[1] == helperArgument {
		os.Exit(help(s, os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
