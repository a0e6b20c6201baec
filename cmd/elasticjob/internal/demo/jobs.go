//go:build unix

package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// demoJob is a job of the company, and what its history of a day looks like.
type demoJob struct {
	config         jobtype.Config
	implementation string
	// every is the time between two ticks of the day that is over; 0 is none.
	every time.Duration
	// took is how long an execution took, about, and fails how many of a hundred failed, of item.
	took  time.Duration
	fails int
	item  int
	error string
}

// interrupted is the job in whose middle workers are killed.
const interrupted = "rebuild-search-index"

// jobs are all jobs. The partner is where HTTP jobs send their requests.
func jobs(partner string) []demoJob {
	return []demoJob{
		{
			config: jobtype.Config{
				Name: "settle-payments", Description: "Settles what customers have paid, city by city",
				Cron: "0/30 * * * * ?", ShardingTotalCount: 6, Failover: true,
				ShardingItemParameters: "0=Berlin,1=Shanghai,2=Boston,3=Nairobi,4=Lima,5=Oslo",
			},
			implementation: "payments", every: 5 * time.Minute, took: 2 * time.Second, fails: 1, item: 3, error: "bank of Nairobi: no answer in 10s",
		},
		{
			config: jobtype.Config{
				Name: "import-orders", Description: "Imports orders in batches, and goes on where it has ended",
				Cron: "0/20 * * * * ?", ShardingTotalCount: 2, Props: map[string]string{"streaming.process": "true", "dataflow.page.size": "5"},
			},
			implementation: "orders", every: 5 * time.Minute, took: 400 * time.Millisecond,
		},
		{
			config: jobtype.Config{
				Name: "send-reminders", Description: "Sends reminders; French ones fail now and then",
				Cron: "0/40 * * * * ?", ShardingTotalCount: 4, ShardingItemParameters: "0=de,1=en,2=fr,3=zh",
				Retry: jobtype.Retry{Attempts: 2, InitialBackoff: time.Second},
			},
			implementation: "reminder", every: 10 * time.Minute, took: 900 * time.Millisecond, fails: 40, item: 2,
			error: "send to 34 customers: 451 mailbox busy, try again later",
		},
		{
			config: jobtype.Config{
				Name: interrupted, Description: "Takes long; a worker is killed in the middle of it now and then",
				Cron: "0 * * * * ?", ShardingTotalCount: 3, Failover: true,
			},
			implementation: "index", every: 15 * time.Minute, took: 35 * time.Second,
		},
		{
			config: jobtype.Config{
				Name: "refresh-caches", Description: "Runs on every instance", Cron: "15 * * * * ?", Broadcast: true,
			},
			implementation: "caches", every: 15 * time.Minute, took: 60 * time.Millisecond,
		},
		{
			config: jobtype.Config{
				Name: "clean-temporary-files", Description: "A shell script", Cron: "5/30 * * * * ?", ShardingTotalCount: 3,
				Props: map[string]string{"script.command.args": `["/bin/sh","-c","echo cleaning folder $ELASTICJOB_ITEM; sleep 0.$ELASTICJOB_ITEM; echo done"]`},
			},
			implementation: script.Name, every: 15 * time.Minute, took: 300 * time.Millisecond,
		},
		{
			config: jobtype.Config{
				Name: "ask-partners", Description: "HTTP requests; one partner is unwell now and then", Cron: "10/30 * * * * ?", ShardingTotalCount: 3,
				ShardingItemParameters: "0=north,1=south,2=unwell",
				Props: map[string]string{
					"http.uri": partner + "/${shardingParameter}", "http.method": "POST", "http.content.type": "application/json",
					"http.data": `{"item": ${json:shardingItem}}`, "http.retry.attempts": "0",
				},
			},
			implementation: httpjob.Name, every: 10 * time.Minute, took: 150 * time.Millisecond, fails: 30, item: 2, error: "http status 503",
		},
		{
			config: jobtype.Config{
				Name: "nightly-report", Description: "At two in the morning on working days", Cron: "0 0 2 * * ?", TimeZone: "Asia/Shanghai",
				ShardingTotalCount: 8, ShardingItemParameters: "0=north,1=east,2=south,3=west,4=centre,5=coast,6=hills,7=islands",
				Calendars: []string{"weekends"}, Failover: true,
			},
			implementation: "report", every: 24 * time.Hour, took: 10 * time.Second,
		},
		{
			config:         jobtype.Config{Name: "export-statistics", Description: "Panics now and then", Cron: "20 * * * * ?", ShardingTotalCount: 2},
			implementation: "export", every: 10 * time.Minute, took: time.Second, fails: 33, item: 0,
			error: "panic: runtime error: index out of range [20] with length 0",
		},
		{
			config:         jobtype.Config{Name: "rebuild-everything", Description: "Runs when somebody triggers it", ShardingTotalCount: 4},
			implementation: "index",
		},
		{
			config:         jobtype.Config{Name: "archive-invoices", Description: "Somebody has paused it", Cron: "0 0/5 * * * ?", ShardingTotalCount: 2},
			implementation: "payments", every: 15 * time.Minute, took: 3 * time.Second,
		},
		{
			config:         jobtype.Config{Name: "old-billing", Description: "No process offers what it needs", Cron: "0 0/10 * * * ?", ShardingTotalCount: 3},
			implementation: "com.example.OldBilling",
		},
	}
}

// weekends leaves Saturdays and Sundays out.
const weekends = "timeZone: Asia/Shanghai\nweekly:\n  - SAT,SUN\n"

// create puts everything into the namespace.
func create(ctx context.Context, o *ops.Ops, partner string) error {
	if _, err := o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "weekends", Document: []byte(weekends)}); err != nil {
		return err
	}
	for _, j := range jobs(partner) {
		if err := o.Create(ctx, ops.CreateRequest{Config: j.config, Implementation: j.implementation}); err != nil {
			return fmt.Errorf("create %s: %w", j.config.Name, err)
		}
	}
	_, err := o.Job("archive-invoices").Pause(ctx, ops.PauseRequest{Why: "the archive is being moved", MakeUp: true})
	return err
}
