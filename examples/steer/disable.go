package main

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job"
)

// disable keeps an item from running, then a server, then all of them.
func disable(ctx context.Context, s *stage) error {
	cfg := job.Config{Name: "settle", Cron: nightly, ShardingTotalCount: 4}
	first, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.1"))
	if err != nil {
		return err
	}
	second, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.2"))
	if err != nil {
		return err
	}
	if _, err := until(ctx, second, hasItems(2)); err != nil {
		return err
	}
	settle := s.ops.Job("settle")
	if err := settle.DisableItems(ctx, 3); err != nil {
		return err
	}
	request, err := settle.Trigger(ctx, job.TriggerRequest{Items: []int{3}})
	if err != nil {
		return err
	}
	results, err := request.Wait(ctx)
	if err != nil {
		return err
	}
	s.tell(results)
	if err := settle.DisableServers(ctx, "10.0.0.2"); err != nil {
		return err
	}
	status, err := until(ctx, first, hasItems(4))
	if err != nil {
		return err
	}
	s.say("10.0.0.2 is disabled: 10.0.0.1 has items %v", status.Items)
	if err := settle.DisableServers(ctx); err != nil { // without addresses: all
		return err
	}
	if _, err := until(ctx, first, func(s job.Status) bool { return !s.Enabled }); err != nil {
		return err
	}
	_, err = settle.Trigger(ctx, job.TriggerRequest{})
	s.say("all servers are disabled: %v", err)
	return settle.EnableServers(ctx)
}
