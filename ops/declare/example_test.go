package declare_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// A plan says what a file would change, and changes nothing. Applied, it leaves nothing to do.
func ExampleNewPlan() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)
	folder, err := os.MkdirTemp("", "declare-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "jobs.yaml")
	text := "jobs:\n  settle: {implementation: settle, cron: '*/5 * * * *', shardingTotalCount: 3}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}

	files, err := jobfile.Declare(jobfile.Options{}, file)
	if err != nil {
		log.Fatal(err)
	}
	steer, request := ops.New(reg).By("anna"), declare.Request{Set: "billing", Files: files}
	plan, err := declare.NewPlan(ctx, steer, request)
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range plan.Apply(ctx, steer, nil) {
		fmt.Println(result.Action, result.Kind, result.Name, result.Err)
	}
	again, err := declare.NewPlan(ctx, steer, request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("something to do:", again.Changes())
	// Output:
	// create job settle <nil>
	// something to do: false
}

// What a namespace has becomes a file, from which it can be set up again.
func ExampleExport() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)
	steer := ops.New(reg).By("anna")
	if err := steer.Create(ctx, ops.CreateRequest{
		Config: job.Config{Name: "settle", Cron: "*/5 * * * *", ShardingTotalCount: 3}, Implementation: "settle",
	}); err != nil {
		log.Fatal(err)
	}

	all, unread, err := declare.Export(ctx, steer, nil, nil)
	if err != nil || len(unread) > 0 {
		log.Fatal(err, unread)
	}
	file, err := all.Write()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", file)
	// Output:
	// jobs:
	//   settle:
	//     implementation: settle
	//     cron: '*/5 * * * *'
	//     shardingTotalCount: 3
}
