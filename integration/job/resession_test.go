package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// An instance in a new session says by its registration which configuration it follows,
// and need not say it again.
func TestNewSessionSaysWhichConfigurationItFollows(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		m, reg := c.counted("10.0.0.1")
		c.mustSchedule(m, cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		before := m.Status().InstanceID
		c.pass(time.Second)
		reg.take()
		s.Expire(c.state().Sessions[before].Owner)
		id := m.awaitStatus("it is there again", func(s job.Status) bool { return s.Registered && s.InstanceID != before }).InstanceID
		c.pass(10 * time.Second)
		commits, _ := reg.take()
		for _, ops := range commits {
			if slices.ContainsFunc(ops, func(op coord.Op) bool { return op.Kind == coord.OpSetAt && op.Path == c.job.Session(id) }) {
				t.Errorf("it said something again: %v", ops)
			}
		}
		config, err := c.admin.Get(t.Context(), c.job.Config())
		c.must(err)
		if says := c.state().Session(id); says.Accepted != config.Modified {
			t.Errorf("it says %+v, and the configuration is of %d", says.SessionDocument, config.Modified)
		}
	})
}
