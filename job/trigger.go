package job

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/request"
)

// Trigger asks the instances of the job to run items now, beside the schedule. Each item
// runs on its owner, whoever that is by then. Requests wait for an item in the order in which
// they were made, and each runs it with its own parameter: after the execution that is under
// way, and before the next tick. An execution that is cut short is run again if failover is
// on. Disabled items do not run; their outcome is SKIPPED. During a pause triggered items run.
//
// Trigger returns when the registry has the request, not when the items have run: see
// Wait of [Requested]. What is in the registry survives the end of all processes. A program that has no scheduler of the
// job triggers it with package ops.
//
// Errors: ErrKeyUsed; ErrNoItem; ErrNoInstance if there is no enabled Go member that could take an item, or if none of
// the instances that are named owns an item; ErrQueueFull, if 100 requests wait for an item or
// 1000 for the job; those of a commit. An item of a JVM member is given to that member in
// ElasticJob's way: it runs all of its items, without the parameter, and the outcome is
// SKIPPED. JVM and Beside of [Requested] say so in advance.
func (s *Scheduler) Trigger(ctx context.Context, r TriggerRequest) (*Requested, error) {
	c := s.c
	to := request.Job{
		Name: c.job, Registry: c.reg,
		Read: func(ctx context.Context) (*jobtree.State, error) {
			if err := c.view.Sync(ctx); err != nil {
				return nil, err
			}
			return jobtree.Read(c.view.Snapshot(), c.job), nil
		},
		Now: func() time.Time { return timeAt(c.reg) },
	}
	result, err := to.Trigger(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("job %s: trigger: %w", c.job, err)
	}
	return result, nil
}

// timeAt is the store's time if it is known, and else the local one.
func timeAt(reg coord.Registry) time.Time {
	if clock := reg.Clock(); clock.Known() {
		return clock.Now()
	}
	return clocks.Wall()
}
