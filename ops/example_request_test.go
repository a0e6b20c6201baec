package ops_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// The items that have failed run again, for the same tick.
func ExampleJob_Retry() {
	ctx := context.Background()
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 3, ErrorHandler: "IGNORE"},
		func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item > 0 && sc.Source != job.SourceRetry {
				return errors.New("the disk is full")
			}
			return nil
		})
	defer end()

	settle := ops.New(reg).By("anna").Job("settle")
	request, err := settle.Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := request.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	again, err := settle.Retry(ctx, ops.RetryRequest{})
	if err != nil {
		log.Fatal(err)
	}
	results, err := again.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println("item", r.Item, r.Outcome)
	}
	_, err = settle.Retry(ctx, ops.RetryRequest{})
	fmt.Println("nothing is left:", errors.Is(err, ops.ErrNothingFailed))
	// Output:
	// item 1 OK
	// item 2 OK
	// nothing is left: true
}

// Requests wait for an item in order. One that is cancelled before its turn never begins.
func ExampleJob_Cancel() {
	ctx := context.Background()
	begun, finish := make(chan string, 1), make(chan struct{})
	reg, end := start(ctx, job.Config{Name: "report", ShardingTotalCount: 1}, func(_ context.Context, sc job.ShardingContext) error {
		begun <- sc.JobParameter
		<-finish
		return nil
	})
	defer end()

	report := ops.New(reg).By("anna").Job("report")
	october, err := report.Trigger(ctx, job.TriggerRequest{Parameter: "2026-10"})
	if err != nil {
		log.Fatal(err)
	}
	november, err := report.Trigger(ctx, job.TriggerRequest{Parameter: "2026-11"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("item 0 runs for", <-begun)
	if err := report.Cancel(ctx, november.ID); err != nil {
		log.Fatal(err)
	}
	close(finish)
	for _, request := range []*job.Requested{october, november} {
		results, err := request.Wait(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v, %q\n", results[0].Outcome, results[0].Error)
	}
	// Output:
	// item 0 runs for 2026-10
	// OK, ""
	// SKIPPED, "the request was cancelled"
}

// The list of requests says who has made them, and which items run or wait.
func ExampleJob_Requests() {
	ctx := context.Background()
	begun, finish := make(chan struct{}, 2), make(chan struct{})
	reg, end := start(ctx, job.Config{Name: "report", ShardingTotalCount: 1}, func(context.Context, job.ShardingContext) error {
		begun <- struct{}{}
		<-finish
		return nil
	})
	defer end()
	defer close(finish)

	for _, name := range []string{"anna", "ben"} {
		if _, err := ops.New(reg).By(name).Job("report").Trigger(ctx, job.TriggerRequest{}); err != nil {
			log.Fatal(err)
		}
	}
	<-begun
	states, err := ops.New(reg).Job("report").Requests(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range states {
		fmt.Printf("%v by %s: running %v, waiting %v\n", s.Source, s.By, s.Running, s.Waiting)
	}
	// Output:
	// MANUAL by anna: running [0], waiting []
	// MANUAL by ben: running [], waiting [0]
}
