package main

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// pin gives an item to an instance with a label, whatever the strategy says.
func pin(ctx context.Context, s *stage) error {
	cfg := job.Config{Name: "render", Cron: nightly, ShardingTotalCount: 4}
	plain, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.1"))
	if err != nil {
		return err
	}
	strong, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.2"), job.WithLabels("gpu"))
	if err != nil {
		return err
	}
	show := func(when string, first, second int) error {
		one, err := until(ctx, plain, hasItems(first))
		if err != nil {
			return err
		}
		two, err := until(ctx, strong, hasItems(second))
		if err != nil {
			return err
		}
		s.say("%s: 10.0.0.1 has %v, 10.0.0.2 has %v", when, one.Items, two.Items)
		return nil
	}
	if err := show("assigned", 2, 2); err != nil {
		return err
	}
	render := s.ops.Job("render")
	if err := render.Pin(ctx, 0, ops.PinRequest{Label: "gpu", Strict: true}); err != nil {
		return err
	}
	if err := show("item 0 is pinned to the label gpu", 1, 3); err != nil {
		return err
	}
	if err := render.Unpin(ctx, 0); err != nil {
		return err
	}
	return show("unpinned", 2, 2)
}

// idle is the handler of jobs that only have to have owners.
func idle(context.Context, job.ShardingContext) error { return nil }
