package ops_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// An item belongs to the instances that have a label, whatever the strategy says.
func ExampleJob_Pin() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg := job.Config{Name: "render", Cron: "0 0 3 * * ?", ShardingTotalCount: 4}
	reg, end := start(ctx, cfg, nothing, job.WithIP("10.0.0.1"))
	defer end()
	strong, err := job.Schedule(ctx, reg, cfg, job.HandlerFunc(nothing), job.WithIP("10.0.0.2"), job.WithLabels("gpu"))
	if err != nil {
		log.Fatal(err)
	}
	defer strong.Shutdown(ctx)

	render := ops.New(reg).By("anna").Job("render")
	if err := render.Pin(ctx, 0, ops.PinRequest{Label: "gpu", Strict: true}); err != nil {
		log.Fatal(err)
	}
	for detail, err := range render.Watch(ctx, time.Millisecond) {
		if err != nil {
			log.Fatal(err)
		}
		if item := detail.Items[0]; item.Server == "10.0.0.2" {
			fmt.Println("item 0 is pinned to", item.Pin.Label, "and belongs to", item.Server)
			break
		}
	}
	fmt.Println("unpinned:", render.Unpin(ctx, 0))
	// Output:
	// item 0 is pinned to gpu and belongs to 10.0.0.2
	// unpinned: <nil>
}

// With static sharding the items stay where they are when an instance joins, until somebody asks.
func ExampleJob_Reshard() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg := job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 4, StaticSharding: true}
	reg, end := start(ctx, cfg, nothing, job.WithIP("10.0.0.1"))
	defer end()

	settle := ops.New(reg).By("anna").Job("settle")
	var second *job.Scheduler
	for detail, err := range settle.Watch(ctx, time.Millisecond) {
		if err != nil {
			log.Fatal(err)
		}
		switch last := detail.Items[3]; {
		case last.Server == "10.0.0.1" && second == nil:
			fmt.Println("item 3 belongs to", last.Server)
			if second, err = job.Schedule(ctx, reg, cfg, job.HandlerFunc(nothing), job.WithIP("10.0.0.2")); err != nil {
				log.Fatal(err)
			}
			defer second.Shutdown(ctx)
			if err := settle.Reshard(ctx); err != nil {
				log.Fatal(err)
			}
		case last.Server == "10.0.0.2":
			fmt.Println("resharded: item 3 belongs to", last.Server)
			return
		}
	}
	// Output:
	// item 3 belongs to 10.0.0.1
	// resharded: item 3 belongs to 10.0.0.2
}

// An item that is disabled runs neither at a tick nor for a request.
func ExampleJob_DisableItems() {
	ctx := context.Background()
	reg, end := start(ctx, job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 4}, nothing)
	defer end()

	settle := ops.New(reg).By("anna").Job("settle")
	if err := settle.DisableItems(ctx, 3); err != nil {
		log.Fatal(err)
	}
	request, err := settle.Trigger(ctx, job.TriggerRequest{Items: []int{2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	results, err := request.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Printf("item %d %v, %q\n", r.Item, r.Outcome, r.Error)
	}
	fmt.Println("enabled:", settle.EnableItems(ctx, 3))
	// Output:
	// item 2 OK, ""
	// item 3 SKIPPED, "the item is disabled"
	// enabled: <nil>
}

// Other servers run the items of one that is disabled. If all are, nobody does.
func ExampleJob_DisableServers() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg := job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 4}
	reg, end := start(ctx, cfg, nothing, job.WithIP("10.0.0.1"))
	defer end()
	second, err := job.Schedule(ctx, reg, cfg, job.HandlerFunc(nothing), job.WithIP("10.0.0.2"))
	if err != nil {
		log.Fatal(err)
	}
	defer second.Shutdown(ctx)

	settle := ops.New(reg).By("anna").Job("settle")
	if err := settle.DisableServers(ctx, "10.0.0.2"); err != nil {
		log.Fatal(err)
	}
	for detail, err := range settle.Watch(ctx, time.Millisecond) {
		if err != nil {
			log.Fatal(err)
		}
		if len(detail.Items) == 4 && detail.Items[3].Server == "10.0.0.1" {
			fmt.Println("item 3 belongs to 10.0.0.1")
			break
		}
	}
	if err := settle.DisableServers(ctx); err != nil { // without addresses: all
		log.Fatal(err)
	}
	_, err = settle.Trigger(ctx, job.TriggerRequest{})
	fmt.Println("nobody may run it:", errors.Is(err, job.ErrNobodyRunsIt))
	fmt.Println("enabled:", settle.EnableServers(ctx))
	// Output:
	// item 3 belongs to 10.0.0.1
	// nobody may run it: true
	// enabled: <nil>
}
