package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// onceATick tells a listener of a whole tick: one call in the cluster before its items begin,
// and one when all of them have ended, whichever instances run them.
func onceATick(ctx context.Context, s *stage) error {
	type start struct {
		items []int
		begun int32 // handlers that had begun before
	}
	var begun atomic.Int32
	started, completed := make(chan start, 3), make(chan job.TickResult, 3)
	report := job.OnceListenerFuncs{
		OnStarted: func(_ context.Context, t job.Tick) error {
			started <- start{t.Items, begun.Load()}
			return nil
		},
		OnCompleted: func(_ context.Context, r job.TickResult) error {
			completed <- r
			return nil
		},
	}
	cfg := job.Config{
		Name: "settle", Cron: once(time.Now().Truncate(time.Second).Add(3 * time.Second)), TimeZone: "UTC",
		ShardingTotalCount: 6, ErrorHandler: "IGNORE", Listeners: []string{"REPORT"},
	}
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		m, err := s.join(ctx, cfg, func(_ context.Context, sc job.ShardingContext) error {
			begun.Add(1)
			if sc.Item == 4 {
				return errors.New("the disk is full")
			}
			return nil
		}, job.WithIP(ip), job.WithOnceListener("REPORT", report, job.OnceTimes{}))
		if err != nil {
			return err
		}
		if _, err := until(ctx, m, func(s job.Status) bool { return len(s.Items) > 0 }); err != nil {
			return err
		}
	}
	first, err := await(ctx, started)
	if err != nil {
		return err
	}
	s.say("started: items %v; %d of them had begun before", first.items, first.begun)
	r, err := await(ctx, completed)
	if err != nil {
		return err
	}
	for _, item := range r.Items {
		s.say("completed: item %d: %v", item, r.Outcomes[item])
	}
	if err := elapse(ctx, time.Second); err != nil {
		return err
	}
	s.say("there are three instances; further calls: %d", len(started)+len(completed))
	return nil
}
