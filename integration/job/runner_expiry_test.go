package job_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// A job that ends with its last tick, and is to be removed then, comes, runs and goes through a
// Runner, and may come again.
func TestRunnerWithAJobThatExpires(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		for life := 1; life <= 2; life++ {
			c.create("brief", "work", func(c *job.Config) { c.Expiry = job.Expiry{Ticks: 3, Remove: true} })
			c.sees("it is removed", func() bool { return c.tree("brief").Config == nil })
			c.sees("the runner has forgotten it", func() bool { return r.Job("brief") == nil })
			c.pass(time.Minute)
			ran := len(c.record.find(func(e execution) bool { return e.JobName == "brief" }))
			if ran != 3*life || c.tree("brief").Exists {
				c.Errorf("life %d: it has run %d times; %v", life, ran, c.tree("brief").Exists)
			}
			if _, isNoted := c.all.Snapshot().Get(jobtree.Job("brief").Removal()); !isNoted {
				c.Error("nothing says that it was removed")
			}
			if err := r.Health(); err != nil {
				c.Error(err)
			}
		}
	})
}
