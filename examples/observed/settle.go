package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const namespace = "billing"

// settling is the job.
func settling() job.Config {
	return job.Config{
		Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 3, ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		Retry: job.Retry{Attempts: 1, InitialBackoff: 50 * time.Millisecond}, ErrorHandler: job.ErrorHandlerIgnore,
	}
}

// settle is what the job does for an item.
func settle(ctx context.Context, sc job.ShardingContext) error {
	log := job.Logger(ctx)
	log.Info("asks the bank", "city", sc.ItemParameter, "attempt", sc.Attempt)
	switch {
	case sc.ItemParameter == "Shanghai" && sc.Attempt == 1, sc.ItemParameter == "Guangzhou" && sc.ScheduledTime.Second()%2 == 1:
		return errors.New("the bank does not answer")
	}
	log.Info("has paid")
	return nil
}

// endsTo tells of the ends of executions.
func endsTo(ended chan<- job.Event) job.Observer {
	return func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			ended <- e
		}
	}
}

// enough waits until each item has run, and that of Guangzhou has ended in both ways.
func enough(ctx context.Context, ended <-chan job.Event) error {
	for seen := map[string]bool{}; len(seen) < 4; {
		select {
		case e := <-ended:
			seen[fmt.Sprint(e.Item, e.Outcome)] = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
