package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Items whose runs take as long as the time between two ticks, or longer, are never idle for long. They move all
// the same when instances join that are to have them.
func TestItemsThatAreAlwaysLateMove(t *testing.T) {
	for _, work := range []time.Duration{800 * time.Millisecond, 999 * time.Millisecond, time.Second, 1100 * time.Millisecond, 2500 * time.Millisecond} {
		for _, misfire := range []job.Toggle{job.On, job.Off} {
			runInVirtualTime(t, fmt.Sprintf("%v, misfire %v", work, misfire), func(t *testing.T, c *cluster, _ *memory.Store) {
				cfg := c.config()
				cfg.ShardingTotalCount, cfg.Misfire = 6, misfire
				c.join("10.0.0.1", cfg, forAWhile(work))
				c.awaitRuns("all items", 6, anything)
				c.join("10.0.0.2", cfg, forAWhile(work))
				c.join("10.0.0.3", cfg, forAWhile(work))
				c.pass(10 * time.Second)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}, "10.0.0.2": {2, 3}, "10.0.0.3": {4, 5}})
			})
		}
	}
}

// So do items that run for one tick of a backfill after the other.
func TestItemsOfABackfillMove(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "0 0 * * * ?", 6
		c.join("10.0.0.1", cfg, forAWhile(time.Second))
		c.pass(time.Second)
		now := time.Now()
		if _, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: now.Add(-100 * time.Hour), To: now}); err != nil {
			t.Fatal(err)
		}
		c.awaitRuns("all items", 6, anything)
		c.join("10.0.0.2", cfg, forAWhile(time.Second))
		c.join("10.0.0.3", cfg, forAWhile(time.Second))
		c.pass(10 * time.Second)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}, "10.0.0.2": {2, 3}, "10.0.0.3": {4, 5}})
	})
}
