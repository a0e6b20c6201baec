package main

import (
	"context"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// broadcast runs each tick on every instance: to refresh a cache in each process, say.
func broadcast(ctx context.Context, s *stage) error {
	type run struct {
		ip   string
		tick time.Time
	}
	ran := make(chan run, 100)
	var members []*job.Scheduler
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		m, err := s.join(ctx, job.Config{Name: "refresh", Cron: everySecond, Broadcast: true},
			func(_ context.Context, sc job.ShardingContext) error {
				ran <- run{ip, sc.ScheduledTime}
				return nil
			}, job.WithIP(ip))
		if err != nil {
			return err
		}
		if _, err := until(ctx, m, hasItems(1)); err != nil {
			return err
		}
		members = append(members, m)
	}
	// next tells who runs the tick that comes next.
	next := func() error {
		tick := time.Now().Truncate(time.Second).Add(time.Second)
		if err := elapse(ctx, time.Until(tick.Add(time.Second/2))); err != nil {
			return err
		}
		var by []string
		for len(ran) > 0 {
			if r := <-ran; r.tick.Equal(tick) {
				by = append(by, r.ip)
			}
		}
		slices.Sort(by)
		s.say("a tick runs on %v", by)
		return nil
	}
	if err := next(); err != nil {
		return err
	}
	if err := within(ctx, members[1].Shutdown); err != nil {
		return err
	}
	s.say("10.0.0.2 leaves")
	return next()
}
