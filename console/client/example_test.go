package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/ops"
)

func Example() {
	c, err := client.New("https://console.example.com", client.Options{Token: "ej_…"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, orders := context.Background(), c.Namespace("orders")
	request, err := orders.Job("settle").Trigger(ctx, client.TriggerBody{Items: []int{3}}, "month-end 2026-11")
	switch {
	case errors.Is(err, ops.ErrNoJob):
		log.Fatal("there is no such job")
	case err != nil:
		log.Fatal(err)
	}
	done, err := orders.Job("settle").Await(ctx, request.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range done.Results {
		fmt.Println(r.Item, r.Outcome, r.Error)
	}
}

func ExampleNamespace_Watch() {
	c, err := client.New("https://console.example.com", client.Options{Token: "ej_…"})
	if err != nil {
		log.Fatal(err)
	}
	jobs := map[string]ops.JobInfo{}
	for update, err := range c.Namespace("orders").Watch(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		if update.Reset {
			clear(jobs)
		}
		for _, j := range update.Jobs {
			jobs[j.Name] = j
		}
		for _, name := range update.Removed {
			delete(jobs, name)
		}
		if !update.More {
			fmt.Println(len(jobs), "jobs", update.Fault)
		}
	}
}

func ExampleJob_PatchSettings() {
	c, err := client.New("https://console.example.com", client.Options{Token: "ej_…"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, settle := context.Background(), c.Namespace("orders").Job("settle")
	_, etag, err := settle.GetSettings(ctx)
	if err != nil {
		log.Fatal(err)
	}
	changed, err := settle.PatchSettings(ctx, []byte(`{"cron":"0 0 4 * * ?"}`), etag)
	if errors.Is(err, client.ErrChanged) {
		log.Fatal("somebody else has changed it meanwhile")
	}
	fmt.Println(changed.Changes, err)
}
