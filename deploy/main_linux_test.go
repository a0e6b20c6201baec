package deploy

import (
	"fmt"
	"os"
	"testing"
)

// scratch is a folder for what several tests use.
var scratch string

// The test binary is also what becomes a container.
func TestMain(m *testing.M) {
	if told := os.Getenv(startVariable); told != "" {
		fmt.Fprintln(os.Stderr, "container:", become(told)) // it returns only if it fails
		os.Exit(125)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "deploy-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(scratch) }() // what is left is in the folder for temporary files
	return m.Run()
}
