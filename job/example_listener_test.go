package job_test

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// A listener that is told of each execution here, and one that is told of each tick once in the
// cluster.
func Example_listeners() {
	ctx := context.Background()
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	reg, err := store.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	audit := job.ListenerFuncs{OnAfter: func(_ context.Context, sc job.ShardingContext, outcome job.Outcome, _ error) error {
		fmt.Println("item", sc.Item, "ended", outcome)
		return nil
	}}
	report := job.OnceListenerFuncs{
		OnStarted: func(_ context.Context, t job.Tick) error {
			fmt.Println("a tick with items", t.Items)
			return nil
		},
		OnCompleted: func(_ context.Context, r job.TickResult) error {
			fmt.Println("all have ended:", r.Outcomes, r.Err)
			select {
			case <-done:
			default:
				close(done)
			}
			return nil
		},
	}
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", Cron: "0/2 * * * * ?", ShardingTotalCount: 1, Listeners: []string{"AUDIT", "REPORT"}},
		job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }),
		job.WithListener("AUDIT", audit), job.WithOnceListener("REPORT", report, job.OnceTimes{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	<-done
	if err := s.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	if err := reg.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// a tick with items [0]
	// item 0 ended OK
	// all have ended: map[0:OK] <nil>
}
