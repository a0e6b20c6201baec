package worker

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
)

// Teller is the name of a once-listener, for job.Config.Listeners. It writes its calls down.
const Teller = "teller"

type teller struct {
	log  *history.Log
	took time.Duration
}

func (t teller) Started(ctx context.Context, tick job.Tick) error {
	return t.call(ctx, "Started", tick, nil)
}

func (t teller) Completed(ctx context.Context, r job.TickResult) error {
	var results []history.Result
	for _, item := range slices.Sorted(maps.Keys(r.Outcomes)) {
		results = append(results, history.Result{Item: item, Outcome: r.Outcomes[item].String()})
	}
	return t.call(ctx, "Completed", r.Tick, results)
}

func (t teller) call(ctx context.Context, name string, tick job.Tick, results []history.Result) error {
	e := history.Now(history.Called)
	e.Job, e.Name, e.Tick, e.Items, e.Again, e.Instance, e.Results = tick.JobName, name, tick.ScheduledTime, tick.Items, tick.Again, tick.InstanceID, results
	t.log.Add(e)
	var err error
	if !sleep.For(ctx, t.took) {
		err = context.Cause(ctx)
	}
	end := history.Now(history.Returned)
	end.Job, end.Name, end.Tick, end.Instance = e.Job, e.Name, e.Tick, e.Instance
	if err != nil {
		end.Err = err.Error()
	}
	t.log.Add(end)
	return err
}
