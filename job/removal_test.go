package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// A job is removed, and with it the permission to look for it. An instance whose handler
// has been told to return, and takes its time, leaves all the same.
func TestRemovalWithThePermissions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		c.timeout = time.Hour
		cfg := c.config()
		cfg.Cron = rarely
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return elapse(context.WithoutCancel(ctx), 3*time.Second)
		}, job.WithCancelGrace(5*time.Second))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		if _, err := m.Trigger(t.Context(), job.TriggerRequest{Items: []int{0}}); err != nil {
			t.Fatal(err)
		}
		c.awaitRuns("item 0", 1, anything)
		denied := s.Inject(memory.Fault{Method: memory.Get, Path: c.job.Config(), Skip: 1, Before: coord.ErrDenied})
		defer denied.Remove()
		c.commit(coord.DeleteTree(string(c.job)))
		m.awaitDone()
		if err := m.Err(); !errors.Is(err, job.ErrJobRemoved) {
			t.Errorf("it stopped with %v", err)
		}
	})
}
