// Command steer is an operator's program: it looks at the jobs, keeps one from ticking for a while, runs
// an item meanwhile, and shows what was changed.
//
//	go run ./examples/steer
//
// The store is in memory, so nothing need be installed, and the job runs in this process. Package ops needs a
// registry only, and runs no job: with etcd.Dial or zk.Dial operate steers jobs of other processes. The examples
// of package ops show one method each.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "steer:", err)
		os.Exit(1)
	}
}

// report is the handler of the job.
func report(_ context.Context, sc job.ShardingContext) error {
	if sc.JobParameter == "" {
		return errors.New("no month was given")
	}
	return nil
}

// run runs a worker and the operator on one store. Usually they are programs of their own.
func run(ctx context.Context, out io.Writer) (err error) {
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	reg, err := store.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, within(ctx, reg.Close)) }()
	worker, err := job.Schedule(ctx, reg, job.Config{
		Name: "report", Cron: "0 0 3 * * ?", ShardingTotalCount: 3, ErrorHandler: job.ErrorHandlerIgnore,
	}, job.HandlerFunc(report))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, within(ctx, worker.Shutdown)) }()
	return operate(ctx, ops.New(reg).By("anna"), out)
}

// operate is what the operator does.
func operate(ctx context.Context, all *ops.Ops, out io.Writer) error {
	list, err := all.Jobs(ctx, ops.JobsQuery{})
	if err != nil {
		return err
	}
	for _, j := range list.Jobs {
		fmt.Fprintf(out, "%s: %d items, %q\n", j.Name, j.ShardingTotalCount, j.Cron)
	}
	if err := maintain(ctx, all.Job("report"), out); err != nil {
		return err
	}
	changes, err := all.Audit(ctx, ops.AuditQuery{Job: "report"}) // the newest first
	if err != nil {
		return err
	}
	for _, c := range changes {
		fmt.Fprintf(out, "audit: %s by %s, %q\n", c.Action, c.By, c.Detail)
	}
	return nil
}

// maintain pauses the job, waits until nothing runs, runs one item, and resumes the job.
func maintain(ctx context.Context, j *ops.Job, out io.Writer) (err error) {
	if _, err := j.Pause(ctx, ops.PauseRequest{Why: "the database moves", MakeUp: true}); err != nil {
		return err
	}
	fmt.Fprintln(out, "paused")
	// A pause lasts until somebody ends it: so resume the job also after a failure, or when ctx has ended.
	defer func() {
		if failed := within(ctx, func(ctx context.Context) error { return j.Resume(ctx, ops.ResumeRequest{}) }); failed != nil {
			err = errors.Join(err, failed)
			return
		}
		fmt.Fprintln(out, "resumed")
	}()
	for detail, err := range j.Watch(ctx, ops.DefaultEvery) {
		if err != nil {
			return err
		}
		if detail.Info.Running == 0 {
			break // what ran has ended, and no tick begins: here the database would move
		}
	}
	for _, month := range []string{"", "2026-10"} {
		request, err := j.Trigger(ctx, job.TriggerRequest{Items: []int{2}, Parameter: month}) // requests run during a pause
		if err != nil {
			return err
		}
		results, err := request.Wait(ctx)
		if err != nil {
			return err
		}
		for _, r := range results {
			fmt.Fprintf(out, "item %d for %q: %v, %q\n", r.Item, month, r.Outcome, r.Error)
		}
	}
	return nil
}

// within ends something with some seconds of its own, because ctx may have ended.
func within(ctx context.Context, end func(context.Context) error) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return end(ending)
}
