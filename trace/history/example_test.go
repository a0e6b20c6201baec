package history_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// What has failed today, page by page, whoever keeps the history.
func ExampleReader() {
	ctx := context.Background()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var reader history.Reader = oneFailure{at: noon} // a *sqltrace.Tracer, mostly

	failures := history.ExecutionFilter{Job: "settle", Outcomes: history.Failures(), From: noon.Add(-12 * time.Hour), Limit: 20}
	for {
		page, err := reader.Executions(ctx, failures)
		if err != nil {
			log.Fatal(err)
		}
		for _, x := range page.Rows {
			fmt.Println(x.StartTime.Format(time.TimeOnly), x.Job, "item", x.Item, x.Outcome, x.Error)
		}
		if page.Next == "" {
			break
		}
		failures.After = page.Next
	}
	// Output: 12:00:00 settle item 3 FAILED disk full
}

// oneFailure is a history of one execution.
type oneFailure struct {
	history.Reader // the questions that nobody asks here
	at             time.Time
}

func (h oneFailure) Executions(_ context.Context, f history.ExecutionFilter) (history.Page[history.Execution], error) {
	return history.Page[history.Execution]{Rows: []history.Execution{
		{Job: f.Job, Item: 3, StartTime: h.at, Outcome: f.Outcomes[0], Error: "disk full"},
	}}, nil
}
