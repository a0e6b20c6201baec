package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
)

// The test binary is the command, too: scripts run it as processes of their own.
func TestMain(m *testing.M) {
	_ = script.Supervise() // a script's supervisor is this binary again, by another name
	testscript.Main(tidy{m}, map[string]func(){"elasticjob": func() { run(patience) }})
}

// tidy runs the tests, ends what they share, and looks whether a goroutine is left.
type tidy struct{ m *testing.M }

func (t tidy) Run() int {
	code := t.m.Run()
	servers.stop()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
