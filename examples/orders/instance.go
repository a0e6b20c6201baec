package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

// instance is one instance of the job.
type instance struct {
	name      string
	reg       *memory.Registry
	scheduler *job.Scheduler
}

// join starts an instance.
func join(ctx context.Context, store *memory.Store, name string, page int, flow *dataflow.Flow) (*instance, error) {
	reg, err := store.Dial(ctx, memory.Config{Namespace: "shop", SessionTimeout: 2 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in := &instance{name: name, reg: reg}
	in.scheduler, err = job.Schedule(ctx, reg, job.Config{
		Name:               "orders",
		Cron:               "* * * * * ?",
		ShardingTotalCount: items,
		Failover:           true,
		Props: map[string]string{
			"streaming.process":  "true",
			"dataflow.page.size": strconv.Itoa(page),
		},
	}, flow, job.WithIP(name))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), in.leave(ctx))
	}
	return in, nil
}

// leave takes the instance out of the job. Its streams end after the batch that is under way.
func (in *instance) leave(ctx context.Context) error {
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var err error
	if in.scheduler != nil {
		err = in.scheduler.Shutdown(drain)
	}
	return errors.Join(err, in.reg.Close(context.WithoutCancel(ctx))) // its requests have bounds of their own
}
