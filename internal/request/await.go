package request

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Await returns what has become of each item of a request when all are through: see [jobtype.Requested.Wait].
func Await(ctx context.Context, reg coord.Registry, job jobtree.Job, id string) ([]jobtype.ItemResult, error) {
	if !jobtree.IsName(string(job)) || coord.ValidatePath(job.Request(id)) != nil {
		return nil, fmt.Errorf("job %s: request %s: %w", brief.Quote(string(job)), brief.Quote(id), jobtype.ErrNoRequest)
	}
	view, err := reg.View(ctx, job.Request(id), coord.AllLevels, jobtree.Bounds())
	if err != nil {
		return nil, fmt.Errorf("job %s: request %s: %w", job, brief.Quote(id), err)
	}
	defer view.Close()
	var s jobtree.State
	var shown coord.Snapshot
	for {
		changed := view.Changed()
		if err := view.Err(); err != nil {
			return nil, fmt.Errorf("job %s: request %s: %w", job, brief.Quote(id), err)
		}
		now := view.Snapshot()
		s.Follow(now, shown, job)
		shown = now
		r := s.Request(id)
		if r == nil {
			return nil, fmt.Errorf("job %s: request %s: %w", job, brief.Quote(id), jobtype.ErrNoRequest)
		}
		if r.Err != nil {
			return nil, fmt.Errorf("job %s: request %s: %w", job, brief.Quote(id), r.Err)
		}
		if !slices.ContainsFunc(r.Items, func(i int) bool { return !r.IsThrough(i) }) {
			return resultsOf(r), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			waiting := slices.DeleteFunc(slices.Clone(r.Items), r.IsThrough)
			return nil, fmt.Errorf("job %s: request %s: items %s are not through: %w", job, brief.Quote(id), brief.Items(waiting), context.Cause(ctx))
		}
	}
}

func resultsOf(r *jobtree.Request) []jobtype.ItemResult {
	list := make([]jobtype.ItemResult, len(r.Items))
	for n, i := range r.Items {
		list[n] = jobtype.ItemResult{Item: i, Outcome: jobtype.OutcomeSkipped, Error: "the request was cancelled"}
		if p := r.Progress(i); p != nil && (p.Outcome != "" || r.Ended.IsZero()) {
			list[n] = jobtype.ItemResult{
				Item: i, Outcome: jobtype.OutcomeOf(string(p.Outcome)), Error: p.Error,
				TaskID: p.TaskID, Token: p.Token, Ended: p.Ended, Runs: p.Done, Failed: p.Failed,
			}
		}
	}
	return list
}
