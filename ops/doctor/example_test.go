package doctor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// A job was created, and nobody runs it.
func Example() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)
	err = ops.New(reg).Create(ctx, ops.CreateRequest{Config: job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 3}})
	if err != nil {
		log.Fatal(err)
	}

	report, err := doctor.Examine(ctx, reg, doctor.Options{Wait: 1}) // a nanosecond: nothing is about to change here
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Jobs, "job, at worst:", report.Worst())
	for _, found := range report.Findings {
		fmt.Println(found)
	}
	// Output:
	// 1 job, at worst: critical
	// critical no-instance job "settle": "no instance has ever joined, so it does not run"; start a process of the job, or remove the job if no program has it any more
}
