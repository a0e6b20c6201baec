//go:build unix

// Command runner is a process that knows no job, and serves those that somebody else creates:
//
//	go run ./examples/runner
//
// An operator creates a job of a shell script, and one of a handler that the program has. He
// changes the first one, and removes both. The store is in memory, so nothing need be installed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

func main() {
	supervisor := script.Supervise() // before all else: supervisors of scripts end here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, supervisor, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

// run runs both sides on one store. Usually they are programs of their own.
func run(ctx context.Context, supervisor script.Supervisor, out io.Writer) error {
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	served, err := store.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		return err
	}
	operated, err := store.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		return errors.Join(err, served.Close(ctx))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	finished := make(chan job.Event, 100)
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, served, supervisor, out, finished) }()
	err = operate(ctx, ops.New(operated).By("anna"), out, finished)
	stop()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, <-ended, served.Close(closing), operated.Close(closing))
}

// serve runs scripts, and what greet does, for whatever job there is.
func serve(ctx context.Context, reg *memory.Registry, supervisor script.Supervisor, out io.Writer, finished chan<- job.Event) error {
	scripts, err := script.New(supervisor, script.Options{})
	if err != nil {
		return err
	}
	r, err := job.NewRunner(reg, job.RunnerConfig{
		NodeConfig: job.NodeConfig{Threads: 10, Options: []job.Option{
			job.WithSlog(slog.New(slog.NewTextHandler(out, nil))),
			job.WithObserver(func(e job.Event) {
				if e.Kind == jobtype.EventFinished {
					select {
					case finished <- e:
					default: // enough were seen
					}
				}
			}),
		}},
		Handlers: map[string]job.Handler{
			"greet":     job.HandlerFunc(greet),
			script.Name: job.OfType(script.Name, scripts),
		},
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

func greet(ctx context.Context, sc job.ShardingContext) error {
	job.SetOutput(ctx, []byte("good morning, "+sc.ItemParameter))
	return nil
}

// operate creates jobs, waits for runs of them, and removes them.
func operate(ctx context.Context, o *ops.Ops, out io.Writer, finished <-chan job.Event) error {
	await := func(name, output string) error {
		for {
			select {
			case e := <-finished:
				if e.JobName == name && strings.TrimSpace(string(e.Output)) == output {
					_, err := fmt.Fprintf(out, "%s, item %d: %v, %q\n", name, e.Item, e.Outcome, output)
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	report := job.Config{
		Name: "report", Cron: "* * * * * ?", ShardingTotalCount: 2,
		Props: map[string]string{"script.command.args": `["/bin/sh","-c","echo item $ELASTICJOB_ITEM of 2","report"]`},
	}
	if err := o.Create(ctx, ops.CreateRequest{Config: report, Implementation: script.Name}); err != nil {
		return err
	}
	if err := await("report", "item 1 of 2"); err != nil {
		return err
	}
	morning := job.Config{Name: "morning", Cron: "* * * * * ?", ShardingTotalCount: 1, ShardingItemParameters: "0=Beijing"}
	if err := o.Create(ctx, ops.CreateRequest{Config: morning, Implementation: "greet"}); err != nil {
		return err
	}
	if err := await("morning", "good morning, Beijing"); err != nil {
		return err
	}
	now, err := o.Job("report").Settings(ctx)
	if err != nil {
		return err
	}
	now.Config.Props["script.command.args"] = `["/bin/sh","-c","echo a better report","report"]`
	if err := o.Job("report").Update(ctx, ops.UpdateRequest{Config: now.Config, Version: now.Version}); err != nil {
		return err
	}
	if err := await("report", "a better report"); err != nil {
		return err
	}
	for _, name := range []string{"report", "morning"} {
		if err := o.Job(name).Remove(ctx, ops.RemoveRequest{Why: "the example is over"}); err != nil {
			return err
		}
	}
	return nil
}
