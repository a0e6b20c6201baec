package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// A job that is configured wrongly costs little, also if it is written again and again.
func TestRunnerRetriesSeldom(t *testing.T) {
	inACrew(t, func(c *crew, s *memory.Store) {
		starts := s.Inject(memory.Fault{Method: memory.OpenView, Path: "wrong", Delay: time.Nanosecond})
		defer starts.Remove()
		told := s.Inject(memory.Fault{Method: memory.Commit, Path: "wrong/faults/*", Delay: time.Nanosecond})
		defer told.Remove()
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		c.create("wrong", "work", func(c *job.Config) { c.Strategy = "by dice" })
		r.refuses("wrong")
		c.pass(time.Hour)
		if n := starts.Hits(); n < 30 || n > 60 {
			c.Errorf("%d starts in an hour", n)
		}
		if n := told.Hits(); n != 1 {
			c.Errorf("told %d times", n)
		}
		before, toldBefore := starts.Hits(), told.Hits()
		for i := range 600 {
			c.create("wrong", "work", func(c *job.Config) { c.Strategy = fmt.Sprintf("by dice %d", i) })
			c.pass(100 * time.Millisecond)
		}
		if n := starts.Hits() - before; n < 30 || n > 62 {
			c.Errorf("%d starts in a minute of changes", n)
		}
		if n := told.Hits() - toldBefore; n < 5 || n > 14 {
			c.Errorf("told %d times in a minute of changes", n)
		}
		c.create("wrong", "work")
		c.runs(r.ip, "wrong")
	})
}
