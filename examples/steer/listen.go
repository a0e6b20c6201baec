package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job"
)

// listen has two listeners of executions. They are named in the configuration; each process says
// what has that name.
func listen(ctx context.Context, s *stage) error {
	told := make(chan string, 10)
	listener := func(name string) job.Option {
		return job.WithListener(name, job.ListenerFuncs{
			OnBefore: func(_ context.Context, sc job.ShardingContext) error {
				told <- fmt.Sprintf("%s: before item %d", name, sc.Item)
				return nil
			},
			OnAfter: func(_ context.Context, sc job.ShardingContext, outcome job.Outcome, err error) error {
				told <- fmt.Sprintf("%s: after item %d: %v, %v", name, sc.Item, outcome, err)
				return nil
			},
		})
	}
	_, err := s.join(ctx, job.Config{Name: "settle", ShardingTotalCount: 1, ErrorHandler: "IGNORE", Listeners: []string{"METER", "AUDIT"}},
		func(_ context.Context, sc job.ShardingContext) error {
			told <- fmt.Sprintf("item %d runs", sc.Item)
			return errors.New("the disk is full")
		}, listener("METER"), listener("AUDIT"))
	if err != nil {
		return err
	}
	if _, err := s.ops.Job("settle").Trigger(ctx, job.TriggerRequest{}); err != nil {
		return err
	}
	for range 5 {
		line, err := await(ctx, told)
		if err != nil {
			return err
		}
		s.say("%s", line)
	}
	return nil
}
