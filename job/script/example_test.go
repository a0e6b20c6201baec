//go:build linux

package script_test

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// A job runs a shell for its item, every second. Its output comes with the end of each
// execution.
func Example() {
	supervisor := script.Supervise() // in a program: first of all in main
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"}) // etcd.Dial or zk.Dial
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	scripts, err := script.New(supervisor, script.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	finished := make(chan job.Event, 100)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name:                   "greet",
		Cron:                   "* * * * * ?",
		ShardingTotalCount:     1,
		ShardingItemParameters: "0=Beijing",
		Props: map[string]string{
			"script.command.line": `/bin/sh -c 'echo "Hello, $ELASTICJOB_ITEM_PARAMETER"'`,
		},
	}, job.OfType(script.Name, scripts),
		job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				finished <- e
			}
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := <-finished
	fmt.Printf("%v: %s", e.Outcome, e.Output)
	if err := s.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: OK: Hello, Beijing
}
