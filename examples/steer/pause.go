package main

import (
	"context"
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// pause keeps a job from ticking for a while. At the end one run makes up for the ticks of that
// time.
func pause(ctx context.Context, s *stage) error {
	ran := make(chan job.ShardingContext, 100)
	made := make(chan job.Event, 1)
	m, err := s.join(ctx, job.Config{Name: "settle", Cron: everySecond, MisfireTolerance: 200 * time.Millisecond, ShardingTotalCount: 1},
		func(_ context.Context, sc job.ShardingContext) error {
			ran <- sc
			return nil
		}, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventMadeUp {
				made <- e
			}
		}))
	if err != nil {
		return err
	}
	if _, err := await(ctx, ran); err != nil {
		return err
	}
	s.say("it runs every second; anna pauses it")
	settle := s.ops.Job("settle")
	paused, err := settle.Pause(ctx, ops.PauseRequest{Why: "the database moves", MakeUp: true})
	if err != nil {
		return err
	}
	if err := elapse(ctx, 2*time.Second+time.Second/2); err != nil {
		return err
	}
	for len(ran) > 0 {
		if sc := <-ran; sc.ScheduledTime.After(paused.Since) {
			return errors.New("it has run during the pause")
		}
	}
	p := m.Status().Paused
	s.say("no tick begins; the status says: by %s, because %s", p.By, p.Why)
	if err := settle.Resume(ctx); err != nil {
		return err
	}
	event, err := await(ctx, made)
	if err != nil {
		return err
	}
	s.say("resumed: one run makes up for %d ticks", event.Count)
	for range 2 {
		sc, err := await(ctx, ran)
		if err != nil {
			return err
		}
		s.say("a run: %v", sc.Source)
	}
	return nil
}
