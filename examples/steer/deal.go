package main

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job"
)

// deal has items resharded that static sharding leaves where they are.
func deal(ctx context.Context, s *stage) error {
	cfg := job.Config{Name: "settle", Cron: nightly, ShardingTotalCount: 4, StaticSharding: true}
	first, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.1"))
	if err != nil {
		return err
	}
	if _, err := until(ctx, first, hasItems(4)); err != nil {
		return err
	}
	second, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.2"))
	if err != nil {
		return err
	}
	s.say("10.0.0.1 has %v; 10.0.0.2 has joined, and has %v", first.Status().Items, second.Status().Items)
	if err := s.ops.Job("settle").Reshard(ctx); err != nil {
		return err
	}
	one, err := until(ctx, first, hasItems(2))
	if err != nil {
		return err
	}
	two, err := until(ctx, second, hasItems(2))
	if err != nil {
		return err
	}
	s.say("resharded: 10.0.0.1 has %v, 10.0.0.2 has %v", one.Items, two.Items)
	return nil
}
