package job_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// dial opens a registry in memory, for the examples. A program dials etcd or ZooKeeper.
func dial(ctx context.Context) (coord.Registry, error) {
	return memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
}

// This job fires every second, and is split into three items.
func ExampleSchedule() {
	ctx := context.Background()
	reg, err := dial(ctx) // etcd.Dial or zk.Dial
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	settled := make(chan string, 100)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name:                   "settle",
		Cron:                   "* * * * * ?",
		ShardingTotalCount:     3,
		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		Failover:               true,
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		settled <- sc.ItemParameter
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}

	cities := map[string]bool{}
	for len(cities) < 3 {
		cities[<-settled] = true
	}
	if err := s.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(slices.Sorted(maps.Keys(cities)))
	// Output: [Beijing Guangzhou Shanghai]
}

// A node runs several jobs, which share ten threads.
func ExampleNode() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(context.Background())

	n, err := job.NewNode(reg, job.NodeConfig{
		Threads: 10,
		Drain:   time.Minute,
		Options: []job.Option{job.WithIP("worker-1")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ran := make(chan string, 100)
	for _, city := range []string{"beijing", "guangzhou", "shanghai"} {
		_, err := n.Schedule(ctx, job.Config{Name: "settle-" + city, Cron: "* * * * * ?", ShardingTotalCount: 1},
			job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
				ran <- sc.JobName
				return nil
			}))
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("healthy:", n.Health() == nil)

	jobs := map[string]bool{}
	go func() {
		defer stop() // as Ctrl-C does, with signal.NotifyContext
		for len(jobs) < 3 {
			jobs[<-ran] = true
		}
	}()
	if err := n.Run(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(slices.Sorted(maps.Keys(jobs)))
	// Output:
	// healthy: true
	// [settle-beijing settle-guangzhou settle-shanghai]
}

// A job without a cron expression runs when it is triggered.
func ExampleSchedule_withoutCron() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	rebuilt := make(chan string, 2)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name:               "rebuild-index",
		ShardingTotalCount: 2,
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		rebuilt <- fmt.Sprintf("part %d of %d, %s: %v", sc.Item, sc.Total, sc.JobParameter, sc.Source)
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)

	// Trigger returns when the registry has the request. The items run later.
	if _, err := s.Trigger(ctx, job.TriggerRequest{Parameter: "2026-11"}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-rebuilt)
	fmt.Println(<-rebuilt)
	// Unordered output:
	// part 0 of 2, 2026-11: MANUAL
	// part 1 of 2, 2026-11: MANUAL
}

// A job with a schedule can be triggered, too: all its items, or some of them.
func ExampleScheduler_Trigger() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	ran := make(chan job.ShardingContext, 1)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name:               "report",
		Cron:               "0 0 0 1 1 ?", // at New Year
		ShardingTotalCount: 10,
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		ran <- sc
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)

	result, err := s.Trigger(ctx, job.TriggerRequest{Items: []int{7}, Parameter: "trial"})
	if err != nil {
		fmt.Println(err)
		return
	}
	sc := <-ran
	fmt.Println(len(result.Instances), "instance was asked to run item", sc.Item, "with the parameter", sc.JobParameter)

	outcomes, err := result.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("item", outcomes[0].Item, outcomes[0].Outcome)

	// The job has no item 10.
	_, err = s.Trigger(ctx, job.TriggerRequest{Items: []int{10}})
	fmt.Println(err)
	// Output:
	// 1 instance was asked to run item 7 with the parameter trial
	// item 7 OK
	// job report: trigger: job: no such item: item 10: 0 to 9 are allowed
}

// A field that is left out has its default, which may be another value than zero.
func ExampleConfig() {
	c := job.Config{
		Name:               "settle",
		Cron:               "0 30 2 * * ?", // at half past two every night
		TimeZone:           "Asia/Shanghai",
		ShardingTotalCount: 3,
		Misfire:            job.Off, // a missed night is not made up for
		ReconcileInterval:  -1,      // a negative duration is off
	}.WithDefaults()

	fmt.Println("monitor:", c.MonitorExecution)
	fmt.Println("misfire:", c.Misfire)
	fmt.Println("reconcile:", c.ReconcileInterval > 0)
	fmt.Println("strategy:", c.Strategy)
	fmt.Println("error handler:", c.ErrorHandler)
	// Output:
	// monitor: on
	// misfire: off
	// reconcile: false
	// strategy: AVG_ALLOCATION
	// error handler: LOG
}

// account is what handlers write to, such as a row of a table. It refuses a write if its
// token is smaller than one that the account has seen.
type account struct {
	mu      sync.Mutex
	balance string
	fence   int64
}

// set does the same as this SQL statement:
//
//	UPDATE account SET balance = $1, fence = $2 WHERE id = 0 AND fence <= $2
func (a *account) set(balance string, token int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if token < a.fence {
		return errors.New("refused: somebody else has the item now")
	}
	a.balance, a.fence = balance, token
	return nil
}

// Each execution of an item has a larger token than those before it. So the account can
// refuse an old execution that still runs, because its process was stopped or cut off and
// has not noticed that its context ended.
func ExampleShardingContext() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	ran := make(chan job.ShardingContext, 1)
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 1},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			ran <- sc
			return nil
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	execute := func() (sc job.ShardingContext, err error) {
		if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
			return sc, err
		}
		return <-ran, nil
	}
	first, err := execute()
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := execute()
	if err != nil {
		fmt.Println(err)
		return
	}

	var a account
	fmt.Println("second:", a.set("by the second", second.Token))
	fmt.Println("first, too late:", a.set("by the first", first.Token))
	fmt.Println(a.balance)
	// Output:
	// second: <nil>
	// first, too late: refused: somebody else has the item now
	// by the second
}

// settlement is a Handler with fields.
type settlement struct {
	currency string
	done     chan string
}

func (s *settlement) Execute(ctx context.Context, sc job.ShardingContext) error {
	for _, day := range []string{"Monday", "Tuesday"} {
		if ctx.Err() != nil {
			return context.Cause(ctx) // stop now: the item may start elsewhere soon
		}
		s.done <- fmt.Sprintf("%s in %s: %s", sc.ItemParameter, s.currency, day)
	}
	return nil
}

// This Handler checks its context between two steps.
func ExampleHandler() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	h := &settlement{currency: "CNY", done: make(chan string, 2)}
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "settle", ShardingTotalCount: 1, ShardingItemParameters: "0=Beijing",
	}, h)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-h.done)
	fmt.Println(<-h.done)
	// Output:
	// Beijing in CNY: Monday
	// Beijing in CNY: Tuesday
}

// An error fails one item. With Retry the same instance tries the item again, with the same
// token.
func ExampleHandlerFunc() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	tried := make(chan string, 2)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name:               "fetch",
		ShardingTotalCount: 1,
		Retry:              job.Retry{Attempts: 3, InitialBackoff: 10 * time.Millisecond},
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		if sc.Attempt == 1 {
			tried <- "attempt 1: no answer"
			return errors.New("no answer")
		}
		tried <- fmt.Sprintf("attempt %d: done", sc.Attempt)
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-tried)
	fmt.Println(<-tried)
	// Output:
	// attempt 1: no answer
	// attempt 2: done
}

// Options are settings of this process. Of these, the registry gets only the address, the
// labels, the weight and the implementation.
func ExampleOption() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "render", Cron: "0 0 3 * * ?", ShardingTotalCount: 8,
		Label: "gpu", Strategy: strategy.Weighted,
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error { return nil }),
		job.WithLogger(zap.NewNop()),              // a program uses zap.NewProduction, say
		job.WithIP("10.0.0.1"),                    // or job.WithNetwork("10.0.0.0/8")
		job.WithLabels("gpu", "rack-4"),           // for jobs with one of these as Config.Label
		job.WithWeight(2),                         // twice as many items as an instance without
		job.WithImplementation("render-v2"),       // a program with another name is refused
		job.WithCancelGrace(500*time.Millisecond), // for handlers to return at a shutdown
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)

	_, err = job.Schedule(ctx, reg, job.Config{Name: "render", Cron: "0 0 3 * * ?", ShardingTotalCount: 8},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error { return nil }),
		job.WithImplementation("render-v1"))
	fmt.Println(errors.Is(err, job.ErrImplementationConflict))
	// Output: true
}

// Config.ErrorHandler has the name of an error handler. Each process says what has that name.
func ExampleWithErrorHandler() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	alarms := make(chan string, 1)
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 1, ErrorHandler: "ALARM"},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error { panic("no such account") }),
		job.WithErrorHandler("ALARM", job.ErrorHandlerFunc(func(ctx context.Context, sc job.ShardingContext, err error) {
			alarms <- fmt.Sprintf("%s, item %d: %v", sc.JobName, sc.Item, err)
		})))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-alarms)
	// Output: settle, item 0: job: panic: no such account
}

// Config.Strategy may have the name of a strategy of one's own.
func ExampleWithStrategy() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	first := strategy.Func(func(r strategy.Request) []string {
		owners := make([]string, r.Total)
		for item := range owners {
			if len(r.Instances) > 0 {
				owners[item] = r.Instances[0].ID
			}
		}
		return owners
	})
	ran := make(chan int, 1)
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 4, Strategy: "FIRST"},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			ran <- sc.Item
			return nil
		}),
		job.WithStrategy("FIRST", first))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{Items: []int{3}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("item", <-ran)
	// Output: item 3
}

// Shutdown waits for running handlers until its context ends. Give it a context of its own,
// because that of the program has often ended by then.
func ExampleScheduler_Shutdown() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx) // after the shutdown

	begun := make(chan struct{})
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 1},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			close(begun)
			<-ctx.Done() // it works until it has to stop
			fmt.Println("item 0:", context.Cause(ctx))
			return context.Cause(ctx)
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	<-begun

	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 100*time.Millisecond)
	defer cancel()
	fmt.Println("shutdown:", s.Shutdown(drain))
	// Output:
	// item 0: job: scheduler shut down
	// shutdown: <nil>
}
