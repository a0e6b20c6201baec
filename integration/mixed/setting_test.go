package mixed

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
	"github.com/elasticjob-go/elasticjob/job"
)

const (
	jobName = "settle"
	// class is the Java class of the job, which Go instances name as their implementation.
	class = "org.example.Settle"
)

// setting is a job, and how the processes around it are. A field that is left out has the value in
// the comment behind it.
type setting struct {
	cron     string        // every 5 s
	total    int           // 8 items
	ticks    int           // 60 are counted
	work     time.Duration // 50 ms
	longest  time.Duration // as long as work: each execution takes a time between the two
	ofGo     time.Duration // those of Go instances: as work and longest say
	session  time.Duration // 6 s
	failover bool
	hosts    int               // as many as processes; with fewer several share an address
	release  jvmmember.Release // 3.0.4
	strategy string            // AVG_ALLOCATION
	behind   bool              // whether the caches of JVM members are behind, by what is drawn for each change
	lag      time.Duration     // … or by this
	alone    bool              // whether JVM members take the place of Go instances
	without  string            // the records of what runs ("monitor") or make-ups ("misfire")
}

func (s setting) withDefaults() setting {
	s.cron = or(s.cron, "0/5 * * * * ?")
	s.total = or(s.total, 8)
	s.ticks = or(s.ticks, 60)
	s.work = or(s.work, 50*time.Millisecond)
	s.longest = or(s.longest, s.work)
	s.session = or(s.session, 6*time.Second)
	s.strategy = or(s.strategy, "AVG_ALLOCATION")
	s.release = or(s.release, jvmmember.V304)
	return s
}

func or[T comparable](value, instead T) T {
	var zero T
	if value == zero {
		return instead
	}
	return value
}

// zone is one that both kinds of members know.
const zone = "GMT+00:00"

// document is the configuration as a JVM's program brings it.
func (s setting) document() []byte {
	return fmt.Appendf(nil, `cron: %s
description: ''
disabled: false
failover: %v
jobName: %s
jobParameter: ''
jobShardingStrategyType: %s
maxTimeDiffSeconds: -1
misfire: %v
monitorExecution: %v
overwrite: false
reconcileIntervalMinutes: 10
shardingItemParameters: ''
shardingTotalCount: %d
staticSharding: false
timeZone: %s
`, s.cron, s.failover, jobName, s.strategy, s.without != "misfire", s.without != "monitor", s.total, zone)
}

// config is the same configuration as a Go program brings it.
func (s setting) config() job.Config {
	c := job.Config{
		Name: jobName, Cron: s.cron, TimeZone: zone, ShardingTotalCount: s.total, Failover: s.failover,
		Strategy: s.strategy, ErrorHandler: job.ErrorHandlerIgnore,
	}
	switch s.without {
	case "misfire":
		c.Misfire = job.Off
	case "monitor":
		c.MonitorExecution = job.Off
	}
	return c
}
