package jobtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// The payments of a week, without the holidays.
func ExampleTicks() {
	holidays, err := calendar.Parse([]byte("timeZone: Europe/Berlin\ndates: [12-25, 12-26]\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	pay := job.Config{
		Name: "pay", Cron: "0 30 9 ? * MON-FRI", TimeZone: "Europe/Berlin", Calendars: []string{"holidays"}, ShardingTotalCount: 1,
	}
	monday := time.Date(2026, 12, 21, 0, 0, 0, 0, time.UTC)
	ticks, err := jobtest.Ticks(pay, monday, monday.AddDate(0, 0, 7), holidays)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, at := range ticks {
		fmt.Println(at)
	}
	// Output:
	// 2026-12-21 09:30:00 +0100 CET
	// 2026-12-22 09:30:00 +0100 CET
	// 2026-12-23 09:30:00 +0100 CET
	// 2026-12-24 09:30:00 +0100 CET
}

// A recorder works on any store, here one in memory.
func ExampleRecorder() {
	ctx := context.Background()
	reg, err := dial(ctx) // etcd.Dial or zk.Dial
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)
	rec := jobtest.NewRecorder()
	s, err := job.Schedule(ctx, reg, job.Config{Name: "rebuild", ShardingTotalCount: 3},
		job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }),
		job.WithObserver(rec.Observer()))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := s.Trigger(ctx, job.TriggerRequest{Items: []int{0, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := result.Wait(ctx); err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Shutdown(ctx); err != nil { // observers were told all then
		fmt.Println(err)
		return
	}
	for _, e := range rec.Executions().Outcome(job.OutcomeOK).Item(2).List() {
		fmt.Println(e.JobName, e.Item, e.Source, e.Outcome)
	}
	// Output: rebuild 2 MANUAL OK
}

func dial(ctx context.Context) (*memory.Registry, error) {
	return memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
}
