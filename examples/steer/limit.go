package main

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// limit bounds how many items an instance has of one job, and how many a process has of all
// jobs. What has no room has no owner, and a fault says so, until there is room.
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

	const kind, jobs, room = "job", 5, 3
	nodes, err := s.nodes(ctx, job.NodeConfig{MaxItems: room}, "10.0.0.2", "10.0.0.3")
	if err != nil {
		return err
	}
	for n, node := range nodes {
		for i := range jobs {
			cfg := job.Config{Name: jobName(kind, i), Cron: nightly, ShardingTotalCount: 1}
			if _, err := node.Schedule(ctx, cfg, job.HandlerFunc(idle)); err != nil {
				return err
			}
		}
		want := min(room*(n+1), jobs)
		for has := 0; has != want; {
			if err := elapse(ctx, 50*time.Millisecond); err != nil {
				return err
			}
			has = itemsOf(nodes[0], kind, jobs) + itemsOf(nodes[1], kind, jobs)
		}
		s.say("processes with room for %d items: %d; %d of %d jobs have an owner", room, n+1, want, jobs)
	}
	return nil
}
