package worker

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

// flow is the dataflow of a job with a Stream: it writes down what it fetches, and what it has
// processed.
func (h handler) flow() *dataflow.Flow { return dataflow.WithCursor(h.fetch, h.process) }

// fetch returns the rows after one that have come until now.
func (h handler) fetch(_ context.Context, sc job.ShardingContext, after int64, size int) (rows []int64, next int64, err error) {
	h.row(history.Fetch, sc, after)
	last := min(int64(time.Since(h.Stream.Begin)/h.Stream.Every), after+int64(size))
	for row := after + 1; row <= last; row++ {
		rows = append(rows, row)
	}
	return rows, last, nil
}

// process takes its time, and writes to the fenced resource. What that refuses has no effect. A
// stubborn stream does not write there: nothing but the cursor stops it after it has lost its item.
func (h handler) process(ctx context.Context, sc job.ShardingContext, rows []int64) error {
	if h.Stubborn {
		sleep.For(ctx, h.Work[sc.Item%len(h.Work)])
		h.row(history.Batch, sc, rows[len(rows)-1])
		return nil
	}
	if err := h.passTime(ctx, sc); err != nil {
		return err
	}
	h.gate.pass()
	if err := h.write(sc); err != nil {
		return err
	}
	h.row(history.Batch, sc, rows[len(rows)-1])
	return nil
}

func (h handler) row(kind history.Kind, sc job.ShardingContext, row int64) {
	e := history.Now(kind)
	e.Job, e.Item, e.Task, e.Token, e.Row = sc.JobName, sc.Item, sc.TaskID, sc.Token, row
	h.log.Add(e)
}
