package ops_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// start runs a job on a store in memory, for the examples. end ends both.
func start(ctx context.Context, cfg job.Config, h job.HandlerFunc, options ...job.Option) (reg coord.Registry, end func()) {
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	s, err := job.Schedule(ctx, reg, cfg, h, options...)
	if err != nil {
		log.Fatal(err)
	}
	return reg, func() {
		if err := errors.Join(s.Shutdown(ctx), reg.Close(ctx)); err != nil {
			log.Fatal(err)
		}
	}
}

// One of two executions ends at once. The other one is not disturbed. With the token of an execution a
// kill that comes late ends no other one.
func ExampleJob_Kill() {
	ctx := context.Background()
	begun := make(chan int, 2)
	finish := make(chan struct{})
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 2, Failover: true},
		func(ctx context.Context, sc job.ShardingContext) error {
			begun <- sc.Item
			select {
			case <-finish:
				return nil
			case <-ctx.Done():
				if sc.Item == 1 {
					defer close(finish)
				}
				return context.Cause(ctx)
			}
		})
	defer end()

	settle := ops.New(reg).By("anna").Job("settle")
	request, err := settle.Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		log.Fatal(err)
	}
	<-begun
	<-begun
	killed, err := settle.Kill(ctx, ops.KillRequest{Items: []int{1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("killed:", len(killed))
	results, err := request.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println("item", r.Item, r.Outcome)
	}
	_, err = settle.Kill(ctx, ops.KillRequest{Items: []int{1}, Token: killed[0].Token})
	fmt.Println("too late:", errors.Is(err, ops.ErrNotRunning))
	// Output:
	// killed: 1
	// item 0 OK
	// item 1 KILLED
	// too late: true
}

// A pause stays until somebody ends it. Requests run all the same.
func ExampleJob_Pause() {
	ctx := context.Background()
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 1},
		func(context.Context, job.ShardingContext) error { return nil })
	defer end()

	settle := ops.New(reg).By("anna").Job("settle")
	if _, err := settle.Pause(ctx, ops.PauseRequest{Why: "the database moves", MakeUp: true}); err != nil {
		log.Fatal(err)
	}
	_, err := settle.Pause(ctx, ops.PauseRequest{})
	fmt.Println("a second pause is refused:", errors.Is(err, ops.ErrPaused))
	request, err := settle.Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		log.Fatal(err)
	}
	results, err := request.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("triggered during the pause:", results[0].Outcome)
	fmt.Println("resumed:", settle.Resume(ctx, ops.ResumeRequest{}))
	// Output:
	// a second pause is refused: true
	// triggered during the pause: OK
	// resumed: <nil>
}

// An item runs now, with a parameter. Wait tells how it has ended.
func ExampleJob_Trigger() {
	ctx := context.Background()
	reg, end := start(ctx, job.Config{Name: "report", Cron: "0 0 3 * * ?", ShardingTotalCount: 10, ErrorHandler: "IGNORE"},
		func(_ context.Context, sc job.ShardingContext) error {
			if sc.JobParameter == "2026-13" {
				return errors.New("no such month")
			}
			return nil
		})
	defer end()

	report := ops.New(reg).Job("report")
	for _, month := range []string{"2026-12", "2026-13"} {
		request, err := report.Trigger(ctx, job.TriggerRequest{Items: []int{7}, Parameter: month})
		if err != nil {
			log.Fatal(err)
		}
		results, err := request.Wait(ctx) // or AwaitRequest, anywhere, with request.ID
		if err != nil {
			log.Fatal(err)
		}
		for _, r := range results {
			fmt.Printf("item %d for %s: %v, %q\n", r.Item, month, r.Outcome, r.Error)
		}
	}
	// Output:
	// item 7 for 2026-12: OK, ""
	// item 7 for 2026-13: FAILED, "no such month"
}

// An item runs for three nights of the past, one after the other.
func ExampleJob_Backfill() {
	ctx := context.Background()
	ran := make(chan time.Time, 3)
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", TimeZone: "UTC", ShardingTotalCount: 3},
		func(_ context.Context, sc job.ShardingContext) error {
			ran <- sc.ScheduledTime
			return nil
		})
	defer end()

	from := time.Date(2025, time.March, 1, 0, 0, 0, 0, time.UTC)
	request, err := ops.New(reg).Job("settle").Backfill(ctx, ops.BackfillRequest{
		From: from, To: from.AddDate(0, 0, 3), Items: []int{2},
	})
	if err != nil {
		log.Fatal(err)
	}
	results, err := request.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("item", results[0].Item, results[0].Outcome, "after", results[0].Runs, "runs")
	for range 3 {
		fmt.Println((<-ran).Format(time.DateTime))
	}
	// Output:
	// item 2 OK after 3 runs
	// 2025-03-01 03:00:00
	// 2025-03-02 03:00:00
	// 2025-03-03 03:00:00
}

// A job is created, changed, and removed. It does not come back by itself.
func ExampleOps_Create() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)

	all := ops.New(reg).By("anna")
	cfg := job.Config{Name: "move", Cron: "0 0/5 * * * ?", ShardingTotalCount: 10, Expiry: job.Expiry{Ticks: 3, Remove: true}}
	if err := all.Create(ctx, ops.CreateRequest{Config: cfg}); err != nil {
		log.Fatal(err)
	}
	move := all.Job("move")
	now, err := move.Settings(ctx)
	if err != nil {
		log.Fatal(err)
	}
	now.Config.Expiry.Ticks = 5
	if err := move.Update(ctx, ops.UpdateRequest{Config: now.Config, Version: now.Version}); err != nil {
		log.Fatal(err)
	}
	if err := move.Remove(ctx, ops.RemoveRequest{Why: "done by hand"}); err != nil {
		log.Fatal(err)
	}
	_, err = job.Schedule(ctx, reg, cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	fmt.Println(errors.Is(err, job.ErrJobRemoved))
	removed, err := all.Removed(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(removed[0].Name, removed[0].By, removed[0].Why)
	fmt.Println(all.Readmit(ctx, "move", ops.ReadmitRequest{}))
	// Output:
	// true
	// move anna done by hand
	// <nil>
}

// A calendar leaves days out, for all jobs that name it: here Christmas, and the 27th, which is a Sunday.
// It is not removed while jobs name it.
func ExampleOps_PutCalendar() {
	ctx := context.Background()
	cfg := job.Config{
		Name: "settle", Cron: "0 0 9 24-27 12 ? 2099", TimeZone: "UTC", Calendars: []string{"holidays"}, ShardingTotalCount: 1,
	}
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)

	all := ops.New(reg).By("anna")
	holidays := []byte("timeZone: UTC\ndates: [12-25..12-26]\nweekly: [SUN]\n") // or calendar.FromICalendar
	if _, err := all.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: holidays}); err != nil {
		log.Fatal(err)
	}
	if err := all.Create(ctx, ops.CreateRequest{Config: cfg}); err != nil {
		log.Fatal(err)
	}
	detail, err := all.Job("settle").Describe(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, tick := range detail.Ticks {
		fmt.Println(tick.Format(time.DateTime))
	}
	err = all.RemoveCalendar(ctx, ops.RemoveCalendarRequest{Name: "holidays"})
	if used, ok := errors.AsType[*ops.CalendarUsedError](err); ok {
		fmt.Println("it is named by", used.Jobs)
	}
	// Output:
	// 2099-12-24 09:00:00
	// it is named by [settle]
}

// What runs somewhere shows as it changes.
func ExampleOps_Watch() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	finish := make(chan struct{})
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 2}, func(context.Context, job.ShardingContext) error {
		<-finish
		return nil
	})
	defer end()

	all := ops.New(reg)
	request, err := all.Job("settle").Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for update, err := range all.Watch(ctx, ops.DefaultEvery) {
		if err != nil {
			log.Fatal(err)
		}
		if len(update.Jobs) == 1 && update.Jobs[0].Running == 2 {
			fmt.Println(update.Jobs[0].Name, "is", update.Jobs[0].Status, "and runs 2 items")
			break
		}
	}
	close(finish)
	if _, err := request.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	items, err := all.Job("settle").Items(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range items {
		fmt.Println("item", i.Item, "is", i.Status, "and has ended", i.Last.Outcome)
	}
	// Output:
	// settle is OK and runs 2 items
	// item 0 is PENDING and has ended OK
	// item 1 is PENDING and has ended OK
}

// A change is looked at before it is made.
func ExampleJob_Plan() {
	ctx := context.Background()
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", TimeZone: "UTC", ShardingTotalCount: 2}, nothing)
	defer end()
	settle := ops.New(reg).By("anna").Job("settle")
	there, err := settle.Settings(ctx)
	if err != nil {
		log.Fatal(err)
	}
	next := there.Config
	next.Cron, next.ShardingTotalCount = "0 0 4 1 1 ? 2099", 1
	plan, err := settle.Plan(ctx, ops.PlanRequest{Config: next, Version: there.Version})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range plan.Changes {
		fmt.Printf("%s: %s, then %s\n", d.Field, d.Before, d.After)
	}
	fmt.Println(plan.TicksAfter)
	fmt.Println(plan.Warnings)
	err = settle.Update(ctx, ops.UpdateRequest{Config: next, Version: plan.Version})
	fmt.Println(err)
	// Output:
	// cron: 0 0 3 * * ?, then 0 0 4 1 1 ? 2099
	// shardingTotalCount: 2, then 1
	// [2099-01-01 04:00:00 +0000 UTC]
	// [item 1 goes, with its last outcome and cursor]
	// <nil>
}

// A host leaves all jobs, one by one.
func ExampleServer_Remove() {
	ctx := context.Background()
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 2}, nothing)
	defer end()
	all := ops.New(reg).By("anna")
	for _, name := range []string{"bill", "settle"} {
		_ = all.Create(ctx, ops.CreateRequest{Config: job.Config{Name: name, ShardingTotalCount: 1}}) // settle is there
		if err := all.Job(name).DisableServersAhead(ctx, "10.0.0.7"); err != nil {
			log.Fatal(err)
		}
	}
	outcomes, err := all.Server("10.0.0.7").Remove(ctx)
	for _, outcome := range outcomes {
		fmt.Println(outcome.Job, outcome.Changes[0].Action, outcome.Err)
	}
	_, again := all.Server("10.0.0.7").Remove(ctx)
	fmt.Println(err, again)
	// Output:
	// bill remove servers <nil>
	// settle remove servers <nil>
	// <nil> server 10.0.0.7: remove servers: ops: no such server
}

// A console has several stores. One that is away delays only who asks for it.
func ExampleStores() {
	ctx := context.Background()
	store := memory.NewStore(memory.Options{})
	stores := ops.NewStores(map[string]ops.Connect{
		"berlin": func(ctx context.Context, namespace string) (coord.Registry, error) {
			return store.Dial(ctx, memory.Config{Namespace: namespace})
		},
		"shanghai": func(context.Context, string) (coord.Registry, error) { return nil, errors.New("no route to host") },
	})
	for _, name := range stores.Names() {
		billing, err := stores.Ops(ctx, name, "billing")
		if err != nil {
			fmt.Println(err)
			continue
		}
		jobs, err := billing.By("anna").Jobs(ctx, ops.JobsQuery{})
		fmt.Println(name, len(jobs.Jobs), err)
	}
	fmt.Println(stores.Close(ctx))
	// Output:
	// berlin 0 <nil>
	// store "shanghai", namespace "billing": ops: the store is away: no route to host
	// <nil>
}
