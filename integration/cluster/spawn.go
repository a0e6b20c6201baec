package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawner starts processes that the kernel kills when this process ends in any way, even if
// they are stopped by a signal. The kernel kills them when the thread that started them ends.
// So one thread, which lives as long as the spawner, starts all of them.
type spawner struct {
	requests chan func()
	running  sync.WaitGroup
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	s.running.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for request := range s.requests {
			request()
		}
	})
	return s
}

// close is called when all processes have ended.
func (s *spawner) close() {
	close(s.requests)
	s.running.Wait()
}

func (s *spawner) start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr.Setpgid = true // Ctrl-C in a terminal reaches only this process
	done := make(chan error)
	s.requests <- func() { done <- cmd.Start() }
	return <-done
}

// command is our own executable in a role.
func command(role string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return commandOf(self, role, args...)
}

// commandOf is a program in a role; "" is our own executable.
func commandOf(program, role string, args ...string) (*exec.Cmd, error) {
	if program == "" {
		return command(role, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd, nil
}
