package cluster

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/job"
)

// Job is what the workers of a cluster run.
type Job struct {
	Name string
	// Every is the time between two ticks, whole seconds that divide a minute. 0 is a
	// one-off job.
	Every time.Duration
	// Items is how many there are.
	Items int
	// Work is how long each takes; see worker.Job. The entries are used in turn.
	Work []time.Duration
	// Failover and NoMisfire are options of the job.
	Failover, NoMisfire bool
	// Stubborn handlers pay no attention to their context.
	Stubborn bool
}

// threads is more than any job of the suite has items: what waits for a slot has begun as
// far as the registry knows, and would count as late.
const threads = 100

func (j Job) config() job.Config {
	cron := ""
	if j.Every > 0 {
		cron = fmt.Sprintf("0/%d * * * * ?", j.Every/time.Second)
	}
	return job.Config{
		Name: j.Name, Cron: cron, ShardingTotalCount: j.Items, Failover: j.Failover,
		Misfire: job.Switch(!j.NoMisfire), Threads: threads,
	}
}

func (j Job) worker() *worker.Job {
	return &worker.Job{Config: j.config(), Work: j.Work, Stubborn: j.Stubborn}
}

func (j Job) rules() *history.Rules {
	return &history.Rules{Every: j.Every, Total: j.Items, Failover: j.Failover, Misfire: !j.NoMisfire && j.Every > 0}
}
