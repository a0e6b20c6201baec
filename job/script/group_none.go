//go:build !unix

package script

import (
	"os"
	"syscall"
)

// attributes sets nothing: there are no process groups here, so only the program itself is ended, and it cannot be asked.
func attributes(*identity) *syscall.SysProcAttr { return nil }
func groupLives(*os.Process) bool               { return false }
func askGroup(*os.Process)                      {}
func killGroup(program *os.Process)             { _ = program.Kill() }
