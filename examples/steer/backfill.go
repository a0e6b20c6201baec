package main

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// backfill runs an item for the last three nights.
func backfill(ctx context.Context, s *stage) error {
	ran := make(chan job.ShardingContext, 10)
	_, err := s.join(ctx, job.Config{Name: "settle", Cron: nightly, TimeZone: "UTC", ShardingTotalCount: 3},
		func(_ context.Context, sc job.ShardingContext) error {
			ran <- sc
			return nil
		})
	if err != nil {
		return err
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	request, err := s.ops.Job("settle").Backfill(ctx, ops.BackfillRequest{From: today.AddDate(0, 0, -3), To: today, Items: []int{1}})
	if err != nil {
		return err
	}
	s.say("asked for: item 1 for %d ticks", len(request.Ticks))
	results, err := request.Wait(ctx)
	if err != nil {
		return err
	}
	for len(ran) > 0 {
		sc := <-ran
		s.say("item %d ran for %s: %v", sc.Item, sc.ScheduledTime.Format(time.DateTime), sc.Source)
	}
	s.say("item %d: %v after %d runs", results[0].Item, results[0].Outcome, results[0].Runs)
	return nil
}
