package main

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job"
)

// cancel ends a request that waits until another one has had the item. It never begins.
func cancel(ctx context.Context, s *stage) error {
	begun, finish := make(chan string, 2), make(chan struct{})
	_, err := s.join(ctx, job.Config{Name: "report", ShardingTotalCount: 1},
		func(_ context.Context, sc job.ShardingContext) error {
			begun <- sc.JobParameter
			<-finish
			return nil
		})
	if err != nil {
		return err
	}
	defer close(finish)
	report := s.ops.Job("report")
	var requests []*job.Requested
	for _, parameter := range []string{"first", "second"} {
		request, err := report.Trigger(ctx, job.TriggerRequest{Parameter: parameter})
		if err != nil {
			return err
		}
		requests = append(requests, request)
	}
	parameter, err := await(ctx, begun)
	if err != nil {
		return err
	}
	s.say("the %s request runs, the second one waits; anna will cancel that", parameter)
	states, err := report.Requests(ctx)
	if err != nil {
		return err
	}
	for _, state := range states {
		s.say("%s by %s: running %v, waiting %v", state.Source, state.By, state.Running, state.Waiting)
	}
	if err := report.Cancel(ctx, requests[1].ID); err != nil {
		return err
	}
	finish <- struct{}{}
	for _, request := range requests {
		results, err := request.Wait(ctx)
		if err != nil {
			return err
		}
		s.tell(results)
	}
	return nil
}
