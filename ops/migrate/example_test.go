package migrate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

func Example() {
	ctx := context.Background()
	here, there := memory.NewStore(memory.Options{}), memory.NewStore(memory.Options{})
	defer here.Close()
	defer there.Close()
	old, err := here.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer old.Close(ctx)
	next, err := there.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer next.Close(ctx)
	if err := ops.New(old).Create(ctx, ops.CreateRequest{Config: job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 3}}); err != nil {
		log.Fatal(err)
	}

	m := migrate.Move{
		From: migrate.Store{Registry: old, Name: "zookeeper://zk1/billing", ZooKeeper: true},
		To:   migrate.Store{Registry: next, Name: "etcd://etcd1/billing"},
		By:   "anna", Why: "zk1 goes",
	}
	plan, err := m.Plan(ctx) // writes nothing: what goes, what is refused, what will differ
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range plan.Findings {
		fmt.Println(f.Severity, f.Job, f.Cause)
	}
	result, err := m.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	removed, err := ops.New(old).Removed(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Moved, removed[0].Why)
	// Output:
	// differs  rights (ACLs, roles) do not go: the target has its own
	// [settle] was moved to etcd://etcd1/billing
}
