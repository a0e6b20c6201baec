package script_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// helperArgument makes the test binary a program that tests run.
const helperArgument = "be-a-program"

// help is what the test binary does as a program.
func help(s script.Supervisor, args []string) int {
	switch args[0] {
	case "tree":
		return growTree()
	case "leaf":
		return beLeaf(args[1])
	case "worker":
		return work(s)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "kill-parent":
		fmt.Println(syscall.Kill(os.Getppid(), syscall.SIGKILL))
		select {}
	}
	return 0
}

// growTree starts processes that are hard to find and to end: a child, one that ignores
// SIGTERM, one in a session of its own, and a daemon whose parent has ended. They say "up" on
// standard output, which all of them hold open; growTree itself says "grown" after them.
func growTree() int {
	for _, kind := range []string{"child", "stubborn", "session", "daemon-parent"} {
		ready, leaf, err := startLeaf(kind)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
			fmt.Println("no leaf", kind, err)
			return 1
		}
		if kind == "daemon-parent" {
			_ = leaf.Wait()
		}
	}
	fmt.Println("grown")
	select {}
}

// startLeaf starts a process of the tree. It writes a line to ready when it is set up.
func startLeaf(kind string) (ready *os.File, leaf *exec.Cmd, err error) {
	ready, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	leaf = exec.Command("/proc/self/exe", helperArgument, "leaf", kind)
	leaf.Stdout, leaf.ExtraFiles = os.Stdout, []*os.File{writer}
	leaf.SysProcAttr = &syscall.SysProcAttr{Setsid: kind != "child"}
	err = leaf.Start()
	_ = writer.Close()
	return ready, leaf, err
}

func beLeaf(kind string) int {
	ready := os.NewFile(3, "ready")
	if kind == "daemon-parent" {
		inner, _, err := startLeaf("daemon")
		if err != nil {
			return 1
		}
		line, _ := bufio.NewReader(inner).ReadString('\n')
		fmt.Fprint(ready, line)
		return 0
	}
	if kind == "stubborn" || kind == "daemon" {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Println("up", kind, os.Getpid())
	fmt.Fprintln(ready, kind)
	_ = ready.Close()
	select {}
}

// work is a worker whose script grows a tree. It runs until it is killed.
func work(s script.Supervisor) int {
	h, err := handler(s, script.Options{}, map[string]string{
		"script.command.args": `["/proc/self/exe","` + helperArgument + `","tree"]`, "script.grace": "1h", "script.context.argument": "false",
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	err = underScheduler(context.Background(), h, slog.New(slog.NewTextHandler(os.Stdout, nil)), func(job.FinishedEvent) {})
	fmt.Println(err)
	return 1
}

func handler(s script.Supervisor, o script.Options, props map[string]string) (job.Handler, error) {
	t, err := script.New(s, o)
	if err != nil {
		return nil, err
	}
	return t.Handler(job.Config{Name: "script", Cron: "* * * * * ?", ShardingTotalCount: 1, Props: props})
}

// underScheduler runs a handler once, in a scheduler, until ctx ends or it has finished.
func underScheduler(ctx context.Context, h job.Handler, log *slog.Logger, finished func(job.FinishedEvent), options ...job.Option) error {
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "scripts"})
	if err != nil {
		return err
	}
	defer func() { _ = reg.Close(context.WithoutCancel(ctx)) }()
	done := make(chan struct{})
	var once sync.Once
	options = append(options, job.WithSlog(log), job.WithObserver(job.Observer{Finished: func(e job.FinishedEvent) {
		once.Do(func() { finished(e); close(done) })
	}}))
	s, err := job.OneOff(ctx, reg, job.Config{Name: "script", ShardingTotalCount: 1}, h, options...)
	if err != nil {
		return err
	}
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return s.Shutdown(ending)
}

// sh returns properties that run a shell with a text.
func sh(text string, more ...string) map[string]string {
	props := map[string]string{"script.command.args": `["/bin/sh","-c",` + strconv.Quote(text) + `]`, "script.context.argument": "false"}
	for i := 0; i < len(more); i += 2 {
		props[more[i]] = more[i+1]
	}
	return props
}

var _ = testing.Short
