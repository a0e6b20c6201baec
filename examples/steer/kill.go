package main

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// kill ends one of three executions. The others go on.
func kill(ctx context.Context, s *stage) error {
	begun, ended, finish := make(chan int, 3), make(chan error, 3), make(chan struct{})
	work := func(ctx context.Context, sc job.ShardingContext) error {
		begun <- sc.Item
		select {
		case <-finish:
			return nil
		case <-ctx.Done(): // a handler that does not look goes on
			ended <- context.Cause(ctx)
			return context.Cause(ctx)
		}
	}
	if _, err := s.join(ctx, job.Config{Name: "settle", Cron: nightly, ShardingTotalCount: 3, Failover: true}, work); err != nil {
		return err
	}
	settle := s.ops.Job("settle")
	request, err := settle.Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		return err
	}
	for range 3 {
		if _, err := await(ctx, begun); err != nil {
			return err
		}
	}
	s.say("three items run; anna kills item 1")
	killed, err := settle.Kill(ctx, ops.KillRequest{Items: []int{1}})
	if err != nil {
		return err
	}
	cause, err := await(ctx, ended)
	if err != nil {
		return err
	}
	s.say("killed is item %d; the cause in its context: %v", killed[0].Item, cause)
	close(finish)
	results, err := request.Wait(ctx)
	if err != nil {
		return err
	}
	s.tell(results)
	_, err = settle.Kill(ctx, ops.KillRequest{Items: []int{1}, Token: killed[0].Token})
	s.say("a kill that comes late kills nothing: %v", err)
	return nil
}
