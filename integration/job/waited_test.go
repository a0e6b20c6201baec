package job_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// An item that was on time and has waited long for a thread runs, although misfire is off and
// its claim fails a few times when there is a thread.
func TestAnItemThatHasWaitedRunsThoughItsClaimFails(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Threads, cfg.ShardingTotalCount, cfg.Misfire = "0/30 * * * * ?", 1, 2, job.Off
		m := c.join("10.0.0.1", cfg, forAWhile(10*time.Second))
		first := c.awaitRuns("the first item", 1, anything)[0]
		other := 1 - first.Item
		failing := s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpCreate, Path: c.job.Running(other), Before: coord.ErrUnavailable, Times: 4})
		c.pass(28 * time.Second)
		if n := failing.Hits(); n != 4 {
			t.Errorf("%d claims have failed, want 4", n)
		}
		runs := c.record.find(func(e execution) bool { return e.Item == other && e.ScheduledTime.Equal(first.ScheduledTime) })
		if len(runs) != 1 || runs[0].Source != job.SourceNormal {
			t.Errorf("the other item has run %d times for the tick: %+v", len(runs), runs)
		}
		c.check()
		m.awaitSound()
	})
}
