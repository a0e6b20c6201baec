package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/request"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Trigger asks for runs now: see job.Scheduler.Trigger.
func (s *Scheduler) Trigger(ctx context.Context, r jobtype.TriggerRequest) (*jobtype.Requested, error) {
	c := s.c
	to := request.Job{
		Name: c.job, Registry: c.reg,
		Read: func(ctx context.Context) (*jobtree.State, error) {
			err := c.view.Sync(ctx)
			return jobtree.Read(c.view.Snapshot(), c.job), err
		},
		Now: func() time.Time { return timeAt(c.reg) },
	}
	result, err := to.Trigger(ctx, r)
	if err != nil && s.IsDone() {
		err = fmt.Errorf("%w: %w", cmp.Or(s.Err(), jobtype.ErrShutdown), err) // the view is closed
	}
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
