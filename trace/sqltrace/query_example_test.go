package sqltrace_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// What has failed on a day, page by page.
func ExampleTracer_Executions() {
	folder, err := os.MkdirTemp("", "history-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	db, err := sql.Open("sqlite", filepath.Join(folder, "history.db"))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		panic(err)
	}
	defer tracer.Close()

	// What a recorder writes.
	ctx, noon := context.Background(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var b trace.Batch
	for item := range 5 {
		b.Events = append(b.Events, trace.Event{
			ID: fmt.Sprint("event ", item), Time: noon.Add(time.Duration(item) * time.Minute), Kind: jobtype.EventFinished, Job: "settle",
			Execution: job.Execution{TaskID: fmt.Sprint("task ", item), Item: item, Source: job.SourceNormal},
			Outcome:   job.OutcomeFailed, Took: time.Second, Error: "no money",
		})
	}
	if err := tracer.Write(ctx, b); err != nil {
		panic(err)
	}

	failures := history.ExecutionFilter{Outcomes: history.Failures(), From: noon.Add(-12 * time.Hour), To: noon.Add(12 * time.Hour), Limit: 2}
	for {
		page, err := tracer.Executions(ctx, failures)
		if err != nil {
			panic(err)
		}
		for _, x := range page.Rows {
			fmt.Println(x.StartTime.Format(time.TimeOnly), x.Job, "item", x.Item, x.Outcome, x.Error)
		}
		if page.Next == "" {
			break
		}
		failures.After = page.Next
	}
	// Output:
	// 12:03:59 settle item 4 FAILED no money
	// 12:02:59 settle item 3 FAILED no money
	// 12:01:59 settle item 2 FAILED no money
	// 12:00:59 settle item 1 FAILED no money
	// 11:59:59 settle item 0 FAILED no money
}
