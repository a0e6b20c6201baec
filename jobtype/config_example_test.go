package jobtype_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

func ExampleConfig_Validate() {
	err := jobtype.Config{
		Name:                   "settle",
		Cron:                   "0/5 * * * * ?",
		ShardingTotalCount:     2,
		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		Threads:                -1,
	}.Validate()
	var invalid *jobtype.ConfigError
	if errors.As(err, &invalid) {
		for _, fault := range invalid.Faults {
			fmt.Println(fault)
		}
	}
	// Output:
	// shardingItemParameters "0=Beijing,1=Shanghai,2=Guangzhou": item 2: 0 to 1 are allowed, because shardingTotalCount is 2
	// props: executor.threads -1: 0 to 10000 are allowed
}

// A job fires when any of its expressions does. A look ahead needs no registry.
func ExampleConfig_Ticks() {
	ticks, err := jobtype.Config{
		Name: "open", Cron: "0 0 9 ? * MON-FRI", MoreCrons: []string{"0 0 11 ? * SAT"}, TimeZone: "UTC", ShardingTotalCount: 1,
	}.Ticks()
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, time.December, 3, 12, 0, 0, 0, time.UTC)
	for range 3 {
		at = ticks.Next(at)
		fmt.Println(at.Format("Monday at 15:04"))
	}
	// Output:
	// Friday at 09:00
	// Saturday at 11:00
	// Monday at 09:00
}

func ExampleConfig_Encode() {
	c := jobtype.Config{Name: "settle", ShardingTotalCount: 1, Misfire: jobtype.Off}
	document, err := c.Encode(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(document))
	// Output:
	// description: ''
	// disabled: false
	// failover: false
	// jobName: settle
	// jobParameter: ''
	// maxTimeDiffSeconds: -1
	// misfire: false
	// monitorExecution: true
	// overwrite: false
	// reconcileIntervalMinutes: 10
	// shardingItemParameters: ''
	// shardingTotalCount: 1
	// staticSharding: false
}

func ExampleDecodeConfig() {
	c, err := jobtype.DecodeConfig([]byte("jobName: settle\nshardingTotalCount: 2\nreconcileIntervalMinutes: 0\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.ShardingTotalCount, c.Misfire, c.ReconcileInterval > 0)
	// Output: settle 2 on false
}

func ExampleFormatItemParameters() {
	fmt.Println(jobtype.FormatItemParameters(map[int]string{0: "Beijing", 1: "Shanghai, Pudong"}))
	// Output: 0=Beijing,1=Shanghai\, Pudong
}
