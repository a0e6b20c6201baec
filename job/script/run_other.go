//go:build !linux

package script

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Supervise returns what New needs. On Linux it does more: there it must be the first thing
// that main does.
func Supervise() Supervisor { return Supervisor{called: true} }

// run runs a program in a process group of its own, where there are process groups. It closes
// the writers.
func (t task) run(ctx context.Context, stdout, stderr *os.File) (ending, error) {
	cmd := exec.Command(t.Args[0], t.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = t.Dir, t.Env, stdout, stderr, attributes(t.As)
	err := cmd.Start()
	closed := errors.Join(stdout.Close(), stderr.Close())
	if err != nil {
		err = explain(t.inDir(cmd.Path), err)
		e := ending{Start: err.Error()}
		_ = errors.As(err, &e.StartErrno) // without a number it stays 0
		return e, closed
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var e ending
	select {
	case err = <-ended:
		if groupLives(cmd.Process) {
			e.Strays = 1 // at least
			endGroup(ctx, cmd.Process, t.Grace)
		}
	case <-ctx.Done():
		e.Asked = true
		grace := graceFor(context.Cause(ctx), t.Grace)
		askGroup(cmd.Process)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		begin := time.Now()
		select {
		case err = <-ended:
			endGroup(ctx, cmd.Process, grace-time.Since(begin))
		case <-timer.C:
			killGroup(cmd.Process)
			err = <-ended
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return e, errors.Join(err, closed)
	}
	e.Code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e, closed
}

// endGroup asks what is left of a group to end, and kills it after the grace.
func endGroup(ctx context.Context, leader *os.Process, grace time.Duration) {
	askGroup(leader)
	ctx = context.WithoutCancel(ctx)
	for end := time.Now().Add(grace); groupLives(leader) && time.Now().Before(end); {
		sleep.For(ctx, 20*time.Millisecond)
	}
	killGroup(leader)
}
