package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
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
		c.trigger(m, 0)
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

// A job that was removed is not set up again, until the program has a higher revision.
func TestRemovedJobStaysRemoved(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Revision = rarely, 3
		removal := jobtree.EncodeRemoval(jobtree.RemovalDocument{By: "anna", Why: "moved", Revision: 3})
		c.commit(coord.Put(c.job.Removal(), removal))
		m := c.dial("10.0.0.1")
		refused := func(cfg job.Config, with string) {
			t.Helper()
			if err := m.schedule(t.Context(), cfg, nil); !errors.Is(err, job.ErrJobRemoved) || !strings.Contains(err.Error(), with) {
				t.Errorf("got %v", err)
			}
		}
		refused(cfg, `by anna: "moved"; raise Config.Revision above 3`)
		overwrite := cfg
		overwrite.Overwrite, overwrite.Revision = true, 0
		refused(overwrite, "anna")
		c.commit(coord.Put(c.job.Removal(), []byte("revision: many")))
		refused(cfg, "revision:")
		c.commit(coord.Put(c.job.Removal(), removal))

		c.sync()
		if nodes := c.dump(); nodes != "" {
			t.Errorf("refused starts have left\n%s", nodes)
		}
		cfg.Revision = 4
		c.mustSchedule(m, cfg, nil)
		if _, err := c.admin.Get(t.Context(), c.job.Removal()); !errors.Is(err, coord.ErrNoNode) {
			t.Errorf("the removal still stands: %v", err)
		}
		m.leave()
		cfg.Revision = 0 // the job is there now
		c.mustSchedule(m, cfg, nil)
	})
}
