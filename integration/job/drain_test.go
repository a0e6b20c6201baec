package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/job"
)

// The time to drain may end in the middle of a pass, wherever that is: the handler's context
// ends then, too, and not when something else wakes the scheduler. The scheduler asks for the
// time again and again in a pass, so its clock is where the test ends the drain.
func TestDrainThatEndsDuringAPass(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		for call := range int64(40) {
			if took := shutDownAtCall(t, c, call+1); took > 2*time.Second {
				t.Errorf("the drain ended at call %d of the clock, and the shutdown took %v", call+1, took)
			}
		}
	})
}

// shutDownAtCall runs an item, and shuts its instance down. The time to drain is over when the
// clock has been asked for the time often enough, or after a second. It returns how long the
// shutdown took.
func shutDownAtCall(t *testing.T, c *cluster, last int64) time.Duration {
	drain, end := context.WithTimeout(t.Context(), time.Second)
	defer end()
	var isLeaving atomic.Bool
	var calls atomic.Int64
	clock := setup.Clock(func() time.Time {
		if isLeaving.Load() && calls.Add(1) == last {
			end()
			time.Sleep(time.Nanosecond) // until the scheduler has been told
		}
		return time.Now()
	})
	cfg := c.config()
	cfg.Cron, cfg.ShardingTotalCount = "", 1
	began := make(chan struct{})
	m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
		if sc.Source == job.SourceFailover {
			return nil // of the shutdown before
		}
		close(began)
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), job.ErrShutdown) {
			t.Errorf("the context ended with %v", context.Cause(ctx))
		}
		return context.Cause(ctx)
	}, clock)
	c.trigger(m)
	<-began
	begin := time.Now()
	isLeaving.Store(true)
	c.ok(m.Shutdown(drain))
	return time.Since(begin)
}
