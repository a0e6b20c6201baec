package dataflow_test

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// letters are what there is to process. A letter's place is its cursor.
const letters = "abcdefgh"

// nextLetters fetches the letters of an item: every second one, if there are two items.
func nextLetters(ctx context.Context, sc job.ShardingContext, after, size int) (rows []string, last int, err error) {
	for place := after + 1; place <= len(letters) && len(rows) < size; place++ {
		if place%sc.Total == sc.Item {
			rows, last = append(rows, letters[place-1:place]), place
		}
	}
	return rows, last, nil
}

// A stream goes on until there is nothing left. The next execution goes on where it was.
func ExampleWithCursor() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	flow := dataflow.WithCursor(nextLetters, func(ctx context.Context, sc job.ShardingContext, rows []string) error {
		fmt.Println("item", sc.Item, "has", rows)
		return nil
	})
	finished := make(chan job.Event)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "spell", ShardingTotalCount: 2,
		Props: map[string]string{"streaming.process": "true", "dataflow.page.size": "3"},
	}, flow, job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	for range 2 {
		if _, err := s.Trigger(ctx, job.TriggerRequest{Items: []int{1}}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println((<-finished).Outcome)
	}
	// Output:
	// item 1 has [a c e]
	// item 1 has [g]
	// OK
	// OK
}

// A fetch that finds by itself what is still to do needs no cursor.
func ExampleNew() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	open := []string{"bread", "milk", "tea"} // one item has them all
	flow := dataflow.New(func(ctx context.Context, sc job.ShardingContext, size int) ([]string, error) {
		return open[:min(size, len(open))], nil
	}, func(ctx context.Context, sc job.ShardingContext, rows []string) error {
		fmt.Println("buy", rows)
		open = open[len(rows):]
		return nil
	})
	finished := make(chan job.Event)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "shop", ShardingTotalCount: 1,
		Props: map[string]string{"dataflow.page.size": "2"}, // not streaming: one batch each time
	}, flow, job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	for range 2 {
		if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println((<-finished).Outcome)
	}
	// Output:
	// buy [bread milk]
	// OK
	// buy [tea]
	// OK
}
