package job_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// A job whose runs take longer than the time between two ticks makes up without a pause. What
// was triggered has its turn all the same: after the run that is under way.
func TestTriggerOfAJobThatIsAlwaysLate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceManual {
				return nil
			}
			return elapse(ctx, 1500*time.Millisecond)
		})
		c.awaitRuns("it makes up", 2, func(e execution) bool { return e.Source == job.SourceMisfire })
		r := c.trigger(m)
		before := len(c.record.find(anything)) // the request stands in the tree, and may run already
		if got := c.wait(r); got[0].Outcome != job.OutcomeOK {
			t.Errorf("results %+v", got)
		}
		// One may be claimed before its instance sees the request. What begins after it does not count.
		others := slices.IndexFunc(c.record.find(anything)[before:], func(e execution) bool { return e.Source == job.SourceManual })
		if others > 1 {
			t.Errorf("it came after %d other executions\n%s", others, c.record)
		}
		c.check()
	})
}
