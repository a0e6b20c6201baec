package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// A Runner that is alone joins a job by one commit. What changes elsewhere in the namespace, and
// jobs of others, cost it nothing, and a job that is removed one commit and one read.
func TestRunnerCosts(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		const many = 100
		var counted *counting
		c.wrap = func(reg coord.Registry) coord.Registry { counted = &counting{Registry: reg}; return counted }
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		costs := func(what string, mostCommits, mostOthers int) {
			c.Helper()
			c.pass(30 * time.Second)
			commits, others := counted.take()
			c.Logf("%s: %d commits, %d other calls", what, len(commits), len(others))
			if len(commits) > mostCommits || len(others) > mostOthers {
				c.Errorf("%s: %d commits, %d other calls, at most %d and %d are needed", what, len(commits), len(others), mostCommits, mostOthers)
			}
		}
		costs("the start", 1, 0)
		for i := range many {
			c.create(fmt.Sprintf("job-%d", i), "work", cron(rarely))
			c.create(fmt.Sprintf("java-%d", i), "org.example.Job", cron(rarely))
		}
		costs("jobs come", many+3, 0)
		if len(r.Jobs()) != many {
			c.Errorf("%d jobs", len(r.Jobs()))
		}
		for i := range many {
			c.commit(coord.Put(fmt.Sprintf("java-%d/schedule", i), nil), coord.Put(fmt.Sprintf("java-%d/servers/10.0.0.9", i), nil))
			c.create(fmt.Sprintf("java-%d", i), "org.example.Job", cron("0 0 0 2 1 ?"))
		}
		costs("others change", 0, 0)
		for i := range many {
			c.remove(fmt.Sprintf("job-%d", i))
		}
		costs("jobs go", many+3, many)
		if len(r.Jobs()) != 0 {
			c.Errorf("%d jobs", len(r.Jobs()))
		}
	})
}

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
