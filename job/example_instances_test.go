package job_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/job"
)

// A broadcast job runs on every instance: to refresh a cache in each process, say.
func Example_broadcast() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	ran := make(chan string, 3)
	var first *job.Scheduler
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		s, err := job.Schedule(ctx, reg, job.Config{Name: "refresh", Broadcast: true},
			job.HandlerFunc(func(context.Context, job.ShardingContext) error {
				ran <- ip
				return nil
			}), job.WithIP(ip))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer s.Shutdown(ctx)
		changed := s.Changed()           // taken before Status, so that no change is missed
		for len(s.Status().Items) == 0 { // each instance gets an item of its own
			<-changed
			changed = s.Changed()
		}
		if first == nil {
			first = s
		}
	}
	if _, err := first.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	by := []string{<-ran, <-ran, <-ran}
	slices.Sort(by)
	fmt.Println(by)
	// Output: [10.0.0.1 10.0.0.2 10.0.0.3]
}

// A program waits until the status is as it wants it. Here an instance may have two items only: the
// others have no owner until another instance comes.
func ExampleScheduler_Changed() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
		s, err := job.Schedule(ctx, reg, job.Config{Name: "render", Cron: "0 0 3 * * ?", ShardingTotalCount: 4, MaxItems: 2},
			job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), job.WithIP(ip))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer s.Shutdown(ctx)
		changed := s.Changed() // taken before Status, so that no change is missed
		for len(s.Status().Items) < 2 {
			<-changed
			changed = s.Changed()
		}
		fmt.Println(ip, "has items", s.Status().Items)
	}
	// Output:
	// 10.0.0.1 has items [0 1]
	// 10.0.0.2 has items [2 3]
}
