package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Job is what the workers of a cluster run.
type Job struct {
	Name string
	// Every is the time between two ticks, whole seconds that divide a minute. 0 is a
	// one-off job.
	Every time.Duration
	// Twofold jobs have two expressions, whose ticks come in turn.
	Twofold bool
	// Items is how many there are.
	Items int
	// Work is how long each takes; see worker.Job. The entries are used in turn.
	Work []time.Duration
	// Failover and NoMisfire are options of the job.
	Failover, NoMisfire bool
	// Skip passes ticks over that come while their item runs.
	Skip bool
	// Tell is how long the calls of a once-listener take; 0 is none.
	Tell time.Duration
	// Broadcast makes each worker run each tick. Items is how many workers may do so.
	Broadcast bool
	// Jitter is by how much items start after their tick, at most.
	Jitter time.Duration
	// Calendar names a calendar of [Cluster.PutCalendar]; empty is none.
	Calendar string
	// MaxItems is how many items a worker may have; 0 is no bound. There may be too little room for all.
	MaxItems int
	// Typed puts Work into the properties, so that runners can do it.
	Typed bool
	// Ticks is how many ticks there are before the job expires and is removed; 0 is no bound.
	Ticks int
	// Stream and Script say what else it is than a handler; see worker.Job.
	Stream *worker.Stream
	Script bool
	// Props are its properties.
	Props map[string]string
	// Failing makes item 0 fail; see worker.Job.
	Failing bool
	// Stubborn handlers pay no attention to their context.
	Stubborn bool
	// Threads is how many items run at a time in one worker; 0 is more than there are.
	Threads int
	// Strategy and ErrorHandler are names; empty ones are the defaults.
	Strategy, ErrorHandler string
}

// threads is more than any job of the suite has items, so no item waits for a thread. For the
// registry such an item has begun, and the check would count it as late.
const threads = 100

func (j Job) config() job.Config {
	cron := ""
	if j.Every > 0 {
		cron = fmt.Sprintf("0/%d * * * * ?", j.Every/time.Second)
	}
	var more []string
	if j.Twofold {
		every := int(j.Every / time.Second)
		cron, more = fmt.Sprintf("0/%d * * * * ?", 2*every), []string{fmt.Sprintf("%d/%d * * * * ?", every, 2*every)}
	}
	overlap := job.OverlapWait
	if j.Skip {
		overlap = job.OverlapSkip
	}
	var listeners, calendars []string
	if j.Tell > 0 {
		listeners = []string{worker.Teller}
	}
	if j.Calendar != "" {
		calendars = []string{j.Calendar}
	}
	props := j.Props
	if j.Typed {
		props = worker.Times(j.Work)
	}
	return job.Config{
		Overlap: overlap, Listeners: listeners, Broadcast: j.Broadcast, Jitter: j.Jitter, Calendars: calendars, MaxItems: j.MaxItems,
		Name: j.Name, Cron: cron, MoreCrons: more, ShardingTotalCount: j.Items, Failover: j.Failover,
		Misfire: jobtype.ToggleOf(!j.NoMisfire), Threads: cmp.Or(j.Threads, threads), Strategy: j.Strategy, ErrorHandler: j.ErrorHandler,
		Props: props, Expiry: job.Expiry{Ticks: j.Ticks, Remove: j.Ticks > 0},
	}
}

func (j Job) worker() *worker.Job {
	return &worker.Job{Config: j.config(), Work: j.Work, Stream: j.Stream, Script: j.Script, Stubborn: j.Stubborn, Failing: j.Failing, Tell: j.Tell}
}

func (j Job) rules() *history.Rules {
	return &history.Rules{
		Every: j.Every, Total: j.Items, Failover: j.Failover, Misfire: !j.NoMisfire && !j.Skip && j.Every > 0,
		Narrow: j.Threads > 0 || j.MaxItems > 0, MaxItems: j.MaxItems, Skip: j.Skip, Once: j.Tell > 0, Broadcast: j.Broadcast, Jitter: j.Jitter, Ticks: j.Ticks,
	}
}
