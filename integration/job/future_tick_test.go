package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// An external writer records a tick of the year 9999 while the item runs, so that it is claimed again
// for that tick. When the leader has corrected the record, the item goes on with its ticks.
func TestFutureTickOfAnItemThatRuns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		ends := make(chan struct{}, 1000)
		m := c.join("10.0.0.1", c.config(), func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 0 {
				select {
				case <-ends:
				case <-ctx.Done():
				}
			}
			return nil
		})
		c.awaitRuns("item 0", 1, of(0))
		c.commit(coord.Put(c.job.Fired(0), []byte("9999-12-31T23:59:59.000Z")))
		c.pass(5 * time.Second)
		for range cap(ends) {
			ends <- struct{}{}
		}
		c.pass(30 * time.Second)
		since := time.Now()
		c.pass(10 * time.Second)
		if n := len(c.record.find(func(e execution) bool { return e.Item == 0 && e.begin.After(since) })); n < 9 {
			t.Errorf("item 0 has run %d times in ten seconds; %+v\n%s", n, m.Status(), c.dump())
		}
		c.pass(time.Minute)
		m.awaitSound()
	})
}
