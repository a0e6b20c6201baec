package main

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job"
)

// limit bounds how many items an instance has. What has no room has no owner, and a fault says so, until
// there is room.
func limit(ctx context.Context, s *stage) error {
	cfg := job.Config{Name: "render", Cron: nightly, ShardingTotalCount: 5, MaxItems: 2}
	first, err := s.join(ctx, cfg, idle, job.WithIP("10.0.0.1"))
	if err != nil {
		return err
	}
	status, err := until(ctx, first, func(s job.Status) bool { return len(s.Items) == 2 && len(s.Waiting) > 0 })
	if err != nil {
		return err
	}
	s.say("10.0.0.1 has %d of 5 items; item %d: %s", len(status.Items), status.Waiting[0].Item, status.Waiting[0].Why)
	return nil
}
