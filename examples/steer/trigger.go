package main

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/job"
)

// trigger asks for runs twice. The second request waits until the first one has had the item.
func trigger(ctx context.Context, s *stage) error {
	begun, finish := make(chan string, 10), make(chan struct{})
	work := func(_ context.Context, sc job.ShardingContext) error {
		if sc.Item == 2 {
			begun <- sc.JobParameter
			<-finish
		}
		if sc.JobParameter == "2026-11" {
			return errors.New("the month is not over")
		}
		return nil
	}
	if _, err := s.join(ctx, job.Config{Name: "report", ShardingTotalCount: 3, ErrorHandler: "IGNORE"}, work); err != nil {
		return err
	}
	defer close(finish)
	report := s.ops.Job("report") // here it has no schedule; with one all is the same
	october, err := report.Trigger(ctx, job.TriggerRequest{Items: []int{0, 2}, Parameter: "2026-10"})
	if err != nil {
		return err
	}
	november, err := report.Trigger(ctx, job.TriggerRequest{Items: []int{2}, Parameter: "2026-11"})
	if err != nil {
		return err
	}
	s.say("asked for: items %v with 2026-10, items %v with 2026-11", october.Items, november.Items)
	for _, request := range []*job.Requested{october, november} {
		parameter, err := await(ctx, begun)
		if err != nil {
			return err
		}
		s.say("item 2 runs with %s", parameter)
		finish <- struct{}{}
		results, err := request.Wait(ctx) // ops.Job.AwaitRequest waits in another process, by the id
		if err != nil {
			return err
		}
		s.tell(results)
	}
	return nil
}
