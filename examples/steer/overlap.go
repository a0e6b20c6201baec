package main

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// overlap runs a job whose item takes longer than the time between two ticks. With SKIP the
// ticks that come meanwhile are skipped; with WAIT, the default, one run would make up for
// them.
func overlap(ctx context.Context, s *stage) error {
	ran := make(chan job.ShardingContext, 10)
	_, err := s.join(ctx, job.Config{Name: "settle", Cron: everySecond, Overlap: job.OverlapSkip, ShardingTotalCount: 1},
		func(ctx context.Context, sc job.ShardingContext) error {
			ran <- sc
			return elapse(ctx, 2*time.Second+time.Second/2)
		})
	if err != nil {
		return err
	}
	s.say("it ticks every second, and each run takes 2.5 s")
	var last time.Time
	for range 3 {
		sc, err := await(ctx, ran)
		if err != nil {
			return err
		}
		if !last.IsZero() {
			s.say("the next run is for the tick %v later: %v", sc.ScheduledTime.Sub(last), sc.Source)
		}
		last = sc.ScheduledTime
	}
	return nil
}
