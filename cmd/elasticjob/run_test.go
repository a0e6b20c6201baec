//go:build unix

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal lets what runs come to its end; another one does not wait for that.
func TestSecondSignal(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	file := filepath.Join(t.TempDir(), "worker.yaml")
	err := os.WriteFile(file, []byte(`
registry: {memory: {namespace: test}}
node: {drain: 10m}
jobs:
  long:
    type: SCRIPT
    cron: "* * * * * ?"
    shardingTotalCount: 1
    props: {script.command.args: '["/bin/sh", "-c", "echo has begun; sleep 600"]'}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	worker := exec.CommandContext(ctx, "elasticjob", "run", "-f", file)
	log, err := worker.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	says := make(chan string)
	go func() {
		defer close(says)
		for s := bufio.NewScanner(log); s.Scan(); {
			says <- s.Text()
		}
	}()
	until := func(what string) {
		t.Helper()
		for line := range says {
			if strings.Contains(line, what) {
				return
			}
		}
		t.Fatalf("the worker has ended, and not said: %s", what)
	}
	signal := func() {
		t.Helper()
		if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	until("has begun")
	signal()
	until("leaving")
	for ended := false; !ended; { // one that comes at once may be taken together with the first
		signal()
		select {
		case _, is := <-says:
			ended = !is
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := worker.Wait(); worker.ProcessState.ExitCode() != -1 || ctx.Err() != nil {
		t.Errorf("the second signal: %v, %v", err, ctx.Err())
	}
}
