package main

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// crons runs a job with three expressions. Two of them have the same tick, which counts once.
func crons(ctx context.Context, s *stage) error {
	week := job.Config{
		Name: "open", Cron: "0 0 9 ? * MON-FRI", MoreCrons: []string{"0 0 11 ? * SAT"}, TimeZone: "UTC", ShardingTotalCount: 1,
	}
	ticks, err := week.Ticks() // a look ahead needs no registry
	if err != nil {
		return err
	}
	for at, n := time.Date(2026, time.December, 3, 12, 0, 0, 0, time.UTC), 0; n < 3; n++ {
		at = ticks.Next(at)
		s.say("would run on %s", at.Format("Monday at 15:04"))
	}
	ran := make(chan time.Time, 10)
	first := time.Now().Truncate(time.Second).Add(2 * time.Second)
	second := first.Add(time.Second)
	_, err = s.join(ctx, job.Config{
		Name: "settle", Cron: once(first), MoreCrons: []string{once(second), once(second)}, TimeZone: "UTC", ShardingTotalCount: 1,
	}, func(_ context.Context, sc job.ShardingContext) error {
		ran <- sc.ScheduledTime
		return nil
	})
	if err != nil {
		return err
	}
	for range 2 {
		tick, err := await(ctx, ran)
		if err != nil {
			return err
		}
		s.say("runs for the tick of the first expression: %v, of the others: %v", tick.Equal(first), tick.Equal(second))
	}
	return nil
}
