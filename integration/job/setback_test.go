package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The wall clock of processes is set, and 20 s later it is right again. Where processes are left whose clocks
// are right, items run on. Otherwise they run again soon after. No tick begins twice, and the clocks are a
// fault as long as they differ.
func TestWallClockIsSetAndSetBack(t *testing.T) {
	const aWhile = 20 * time.Second
	for _, step := range []time.Duration{17 * time.Minute, time.Hour, -time.Hour} {
		for who, wrong := range map[string][]int{"the leader": {0}, "one that does not lead": {1}, "all": {0, 1, 2}} {
			runInVirtualTime(t, fmt.Sprintf("%v, %s", step, who), func(t *testing.T, c *cluster, _ *memory.Store) {
				var clocks [3]setClock
				for i := range clocks {
					m := c.join(fmt.Sprintf("10.0.0.%d", i+1), c.config(), nil, setup.Clock(clocks[i].now))
					m.awaitStatus("it is there", func(s job.Status) bool { return s.Registered })
				}
				c.awaitRuns("all items", 9, anything)
				c.pass(10 * time.Second)
				set := func(by time.Duration) {
					for _, i := range wrong {
						clocks[i].set(by)
					}
				}
				begin := time.Now()
				set(step)
				for _, i := range wrong {
					c.members[i].awaitFault(jobtype.FaultClock, "")
				}
				c.pass(time.Until(begin.Add(aWhile)))
				set(0)
				for _, m := range c.members {
					m.awaitSound()
				}
				c.pass(30 * time.Second)
				allowed := 10 * time.Second
				if step < 0 && len(wrong) == len(clocks) {
					allowed += aWhile // the time of day came a second time, and its ticks had begun
				}
				c.checkGaps(begin, allowed)
				c.check()
			})
		}
	}
}

// checkGaps fails if an item has not run for longer than allowed since a time.
func (c *cluster) checkGaps(since time.Time, allowed time.Duration) {
	c.Helper()
	for item := range c.config().ShardingTotalCount {
		last, longest := since, time.Duration(0)
		for _, e := range c.record.find(func(e execution) bool { return e.Item == item && !e.begin.Before(since) }) {
			longest, last = max(longest, e.begin.Sub(last)), e.begin
		}
		if longest = max(longest, time.Since(last)); longest > allowed {
			c.Errorf("item %d has not run for %v\n%s%s", item, longest, c.dump(), c.record)
		}
	}
}
