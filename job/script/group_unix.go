//go:build unix && !linux

package script

import (
	"os"
	"syscall"
)

// attributes puts a program into a process group of its own.
func attributes(as *identity) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		a.Credential = &syscall.Credential{Uid: as.UID, Gid: as.GID, Groups: as.Groups}
	}
	return a
}

func groupLives(leader *os.Process) bool { return syscall.Kill(-leader.Pid, 0) == nil }

// askGroup ignores that a group cannot be reached: it has ended, or runs with other rights.
func askGroup(leader *os.Process)  { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }
