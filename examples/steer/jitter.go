package main

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// jitter spreads the items of a tick over a second, so that a database, say, does not get all
// of them at once. An item always has the same delay, wherever it runs.
func jitter(ctx context.Context, s *stage) error {
	type start struct {
		item  int
		after time.Duration
	}
	ran := make(chan start, 8)
	tick := time.Now().Truncate(time.Second).Add(2 * time.Second)
	_, err := s.join(ctx, job.Config{
		Name: "settle", Cron: once(tick), TimeZone: "UTC", Jitter: time.Second, ShardingTotalCount: 4,
	}, func(_ context.Context, sc job.ShardingContext) error {
		ran <- start{sc.Item, time.Since(sc.ScheduledTime)}
		return nil
	})
	if err != nil {
		return err
	}
	for range 4 {
		started, err := await(ctx, ran)
		if err != nil {
			return err
		}
		s.say("item %d begins %.1f s after the tick", started.item, started.after.Seconds())
	}
	return nil
}
