package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// retry runs those items of a tick again that have failed.
func retry(ctx context.Context, s *stage) error {
	tick := time.Now().Truncate(time.Second).Add(2 * time.Second)
	ended, ran := make(chan int, 3), make(chan job.ShardingContext, 3)
	m, err := s.join(ctx, job.Config{Name: "settle", Cron: once(tick), TimeZone: "UTC", ShardingTotalCount: 3, ErrorHandler: "IGNORE"},
		func(_ context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceRetry {
				ran <- sc
			} else if sc.Item > 0 {
				return errors.New("the disk is full")
			}
			return nil
		}, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				ended <- e.Item
			}
		}))
	if err != nil {
		return err
	}
	var items []int
	for range 3 {
		item, err := await(ctx, ended)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	slices.Sort(items)
	for len(m.Status().Running) > 0 { // until the tree says, too, how they have ended
		if err := elapse(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	s.say("items %v have run; items 1 and 2 have failed. anna tries again", items)
	again, err := s.ops.Job("settle").Retry(ctx, ops.RetryRequest{})
	if err != nil {
		return err
	}
	results, err := again.Wait(ctx)
	if err != nil {
		return err
	}
	s.tell(results)
	sc, err := await(ctx, ran)
	if err != nil {
		return err
	}
	s.say("source %v, for the same tick: %v", sc.Source, sc.ScheduledTime.Equal(tick))
	return nil
}
