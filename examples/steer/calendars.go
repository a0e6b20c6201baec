package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// calendars leaves days out. They stand in the registry, for all jobs that name them.
func calendars(ctx context.Context, s *stage) error {
	put := func(days string) error {
		document := fmt.Sprintf("timeZone: UTC\ndates:\n  - %s\n", days) // there may be weekly windows, too, or an iCalendar file
		_, err := s.ops.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte(document)})
		return err
	}
	if err := put("1999-12-25"); err != nil {
		return err
	}
	ran := make(chan job.ShardingContext, 100)
	m, err := s.join(ctx, job.Config{Name: "settle", Cron: everySecond, Calendars: []string{"holidays"}, TimeZone: "UTC", ShardingTotalCount: 1},
		func(_ context.Context, sc job.ShardingContext) error {
			ran <- sc
			return nil
		})
	if err != nil {
		return err
	}
	if _, err := await(ctx, ran); err != nil {
		return err
	}
	s.say("it runs every second, but not on holidays; now today and tomorrow become holidays")
	today := time.Now().UTC()
	if err := put(today.Format(time.DateOnly) + ".." + today.AddDate(0, 0, 1).Format(time.DateOnly)); err != nil {
		return err
	}
	for m.Status().NextTick.Before(today.Add(time.Hour)) {
		if err := elapse(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	for len(ran) > 0 {
		<-ran
	}
	s.say("the next tick is at %s", m.Status().NextTick.Format(time.DateTime))
	if err := elapse(ctx, 2*time.Second+time.Second/2); err != nil {
		return err
	}
	if len(ran) > 0 {
		return errors.New("it has run on a holiday")
	}
	if err := put("1999-12-25"); err != nil {
		return err
	}
	sc, err := await(ctx, ran)
	if err != nil {
		return err
	}
	s.say("they are holidays no more. Nothing is made up; the next run: %v", sc.Source)
	return nil
}
