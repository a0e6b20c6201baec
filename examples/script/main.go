//go:build unix

// Command script runs a shell script for each item of a job, and ends after three ticks:
//
//	go run ./examples/script
//
// The store is in memory, so nothing need be installed. Beijing succeeds, Shanghai has nothing
// to do (exit code 75), and Guangzhou fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// settle is the script. It is told its item in the environment, and as JSON in $1.
const settle = `["/bin/sh","-c","echo settling $ELASTICJOB_ITEM_PARAMETER, run $ELASTICJOB_TOKEN; case $ELASTICJOB_ITEM in 1) exit 75;; 2) echo no connection >&2; exit 1;; esac","settle"]`

func main() {
	supervisor := script.Supervise() // before all else: supervisors of scripts end here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, supervisor, os.Stdout, 3); err != nil {
		fmt.Fprintln(os.Stderr, "script:", err)
		os.Exit(1)
	}
}

// run runs the job until each item has finished a number of times, or ctx ends.
func run(ctx context.Context, supervisor script.Supervisor, out io.Writer, ticks int) (err error) {
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, reg.Close(closing))
	}()
	scripts, err := script.New(supervisor, script.Options{})
	if err != nil {
		return err
	}
	const items = 3
	finished := make(chan job.Event, items*ticks)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "settle", Cron: "* * * * * ?", Timeout: time.Minute,
		ShardingTotalCount: items, ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		Props: map[string]string{"script.command.args": settle, "script.codes.skip": "75", "script.grace": "2s"},
	},
		job.OfType(script.Name, scripts),
		job.WithCancelGrace(3*time.Second), // more than script.grace
		job.WithSlog(slog.New(slog.NewTextHandler(out, nil))),
		job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				select {
				case finished <- e:
				default: // enough were seen
				}
			}
		}))
	if err != nil {
		return err
	}
	defer func() {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, s.Shutdown(leaving))
	}()
	for range items * ticks {
		select {
		case e := <-finished:
			if _, err := fmt.Fprintf(out, "item %d: %v, %v, output %q\n", e.Item, e.Outcome, e.Err, e.Output); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}
