//go:build linux

package script_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// helperArgument makes the test binary a program that tests run.
const helperArgument = "be-a-program"

// leafTime is how long processes of a tree live that nobody ends.
const leafTime = 10 * time.Minute

// help is what the test binary does as a program.
func help(s script.Supervisor, args []string) int {
	switch args[0] {
	case "tree":
		return growTree()
	case "leaf":
		return beLeaf(args[1])
	case "worker":
		return work(s)
	case "spy":
		return spy(s)
	case "args":
		fmt.Println(len(args) - 1)
		for _, arg := range args[1:] {
			fmt.Println(arg)
		}
	case "json":
		text, err := json.Marshal(args[1:])
		fmt.Println(string(text))
		if err != nil {
			return 1
		}
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	}
	return 0
}

// growTree starts processes that are hard to find and to end: a child, one that ignores
// SIGTERM, one in a session of its own, and a daemon whose parent has ended. All of them
// hold $HOLD open, and say "up"; growTree itself writes "ready" into that when
// all are there.
func growTree() int {
	held, err := hold()
	if err != nil {
		fmt.Println(err)
		return 1
	}
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
			_ = leaf.Wait() // how it ends does not matter
		}
	}
	fmt.Fprintln(held, "ready")
	<-time.After(leafTime)
	return 0
}

// hold opens $HOLD, a named pipe, until this process ends. Who reads it sees its end when all
// are gone that have done so.
func hold() (*os.File, error) { return os.OpenFile(os.Getenv("HOLD"), os.O_WRONLY, 0) }

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
	_ = writer.Close() // nothing is read or written any more
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
	if _, err := hold(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("up", kind, os.Getpid())
	fmt.Fprintln(ready, kind)
	_ = ready.Close() // nothing is read or written any more
	<-time.After(leafTime)
	return 0
}

// work is a worker whose script grows a tree. It runs until it is killed.
func work(s script.Supervisor) int {
	t, err := script.New(s, script.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	c := job.Config{Name: "script", ShardingTotalCount: 1, Props: map[string]string{
		"script.command.args": program("tree"), "script.grace": "1h", "script.context.argument": "false", "script.inherit": "*",
	}}
	_, err = underScheduler(context.Background(), t, c, slog.NewTextHandler(os.Stdout, nil))
	fmt.Println(err)
	return 1
}

// program is a command that runs the test binary as a program.
func program(args ...string) string {
	list, err := json.Marshal(append([]string{"/proc/self/exe", helperArgument}, args...))
	if err != nil {
		panic(err)
	}
	return string(list)
}

// underScheduler runs a job of a type once, and returns how it has finished.
func underScheduler(ctx context.Context, t job.Type, c job.Config, log slog.Handler, more ...job.Option) (e job.Event, err error) {
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "scripts"})
	if err != nil {
		return e, err
	}
	defer func() { _ = reg.Close(context.WithoutCancel(ctx)) }()
	finished := make(chan job.Event, 100)
	s, err := job.Schedule(ctx, reg, c, job.OfType(script.Name, t), append(more, job.WithSlog(slog.New(log)),
		job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				finished <- e
			}
		}))...)
	if err != nil {
		return e, err
	}
	if _, err = s.Trigger(ctx, job.TriggerRequest{}); err == nil {
		select {
		case e = <-finished:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return e, errors.Join(err, s.Shutdown(ending))
}

// sh returns properties that run a shell with a text.
func sh(text string, more ...string) map[string]string {
	props := map[string]string{"script.command.args": `["/bin/sh","-c",` + strconv.Quote(text) + `]`, "script.context.argument": "false"}
	for i := 0; i < len(more); i += 2 {
		props[more[i]] = more[i+1]
	}
	return props
}
