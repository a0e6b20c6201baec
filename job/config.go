package job

import (
	"math"
	"reflect"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Config is a job as it is configured: in code, by an operator, or as it stands in
// the registry, from where all instances take it. Only Name and ShardingTotalCount
// have to be set:
//
//	job.Config{Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 3,
//		ShardingItemParameters: "0=Beijing,1=Shanghai", Misfire: job.Off}
//
// A field that is left out means its default, also where that is not the zero value:
// such booleans are a [Toggle], and a duration of zero is the default one. Where a
// duration can be switched off, a negative one does that. [Config.WithDefaults] shows
// what is in force; there, a duration is on exactly if it is positive.
//
// The whole of it enters the registry in clear text, where everybody who may read the
// job can see it. Passwords and other secrets have no place in it; give them to the
// process in its own ways. So a Config hides nothing when it is printed.
type Config struct {
	// Name identifies the job: 1 to 200 ASCII letters, digits, '.', '_', '-' and
	// ':', but not "." or "..". A renamed job is another job. (jobName)
	Name string

	// Cron is when the job fires, in Quartz syntax with 6 or 7 fields; see package
	// cronexpr. Empty is a one-off job, which runs when it is triggered. (cron)
	Cron string

	// TimeZone is the zone that Cron is meant in: an IANA name such as
	// "Asia/Shanghai", or "GMT+08:00". Empty is each process's own. (timeZone)
	TimeZone string

	// ShardingTotalCount is the number of items that the job is split into, numbered
	// from 0: 1 to MaxShardingTotalCount. (shardingTotalCount)
	ShardingTotalCount int

	// ShardingItemParameters gives items a parameter each: "0=Beijing,1=Shanghai".
	// See [ParseItemParameters]; [FormatItemParameters] makes it from a map.
	// (shardingItemParameters)
	ShardingItemParameters string

	// JobParameter is free text for the handler. (jobParameter)
	JobParameter string

	// Description is free text for people. (description)
	Description string

	// MonitorExecution keeps a record in the registry of what runs. Without it, Failover
	// and the promise that a tick starts once are gone, and so are all writes when the
	// job fires. Default On. (monitorExecution)
	MonitorExecution Toggle

	// Failover runs an item again, elsewhere, whose run was cut short by the end of its
	// instance. Needs MonitorExecution. Default false. (failover)
	Failover bool

	// Misfire makes up for ticks that were missed, once for all of them, as soon as
	// that can be. Default On. (misfire)
	Misfire Toggle

	// MisfireTolerance is how late a tick may start without being missed: at least a
	// millisecond, in whole ones. Default 1 s. (props: misfire.tolerance.milliseconds)
	MisfireTolerance time.Duration

	// MisfireWindow bounds what is made up for: ticks missed longer ago are only
	// counted. Whole seconds. Default 0, no bound. (props: misfire.window.seconds)
	MisfireWindow time.Duration

	// MaxTimeDiff keeps ticks from running in a process whose clock is farther than
	// that from the store's. The clocks are compared in the background
	// ([coord.Registry].Clock), so no tick waits for a request. While the store's clock
	// has not been read at all, ticks run, and a fault of kind clock says that it could
	// not be compared. An instance that is refused gives its items to others until its
	// clock is right again. Whole seconds; 0 and below is off. Default 0, off. Whatever it
	// is, an instance whose clock is more than 10 s off has no items while there is one
	// whose clock is not.
	// (maxTimeDiffSeconds)
	MaxTimeDiff time.Duration

	// ReconcileInterval is how often an instance looks at the whole tree again even if
	// it saw no change. Whole minutes; negative is off. Default 10 min.
	// (reconcileIntervalMinutes)
	ReconcileInterval time.Duration

	// Strategy names what deals the items to the instances: one of package strategy,
	// or one given to the scheduler. Default AVG_ALLOCATION. (jobShardingStrategyType)
	Strategy string

	// Threads is how many items of this job a process runs at a time, up to MaxThreads.
	// Default 0, twice the number of its CPUs. ElasticJob's CPU and SINGLE_THREAD are
	// 0 and 1.
	// (jobExecutorThreadPoolSizeProviderType, before 3.0.5 jobExecutorServiceHandlerType;
	// other numbers in props: executor.threads)
	Threads int

	// ErrorHandler names what is told of failed items: LOG, IGNORE, or one given to the
	// scheduler, or several of them, told in their order: "LOG,WEBHOOK". LOG is told first
	// where it is not named, unless IGNORE is: "WEBHOOK" logs, too, and "IGNORE,WEBHOOK"
	// does not. JVM members of the job fail at a list, and at a name that they do not have.
	// Up to 255 bytes. Default LOG. (jobErrorHandlerType)
	ErrorHandler string

	// Listeners name what is told before and after executions. No listener can be
	// registered yet, so any name is refused at the start. (jobListenerTypes)
	Listeners []string

	// Timeout is how long an item may run before its context ends, with all retries.
	// Whole seconds. Default 0, as long as it likes. (props: execution.timeout.seconds)
	Timeout time.Duration

	// Retry is what happens to an item whose handler returns an error.
	Retry Retry

	// Props are further properties, of the job's type and its error handler. They do
	// not have the names that belong to other fields. (props)
	Props map[string]string

	// Disabled is whether a server is disabled when it registers for the first time.
	// After that only an operator's word counts. (disabled)
	Disabled bool

	// Overwrite replaces the configuration in the registry by this one when a scheduler
	// starts, whatever stands there. Otherwise the one in the registry is used, or that
	// which WithPrecedence names.
	// (overwrite)
	Overwrite bool

	// Revision counts the versions of this configuration in code: raise it with every
	// change that a deployment brings, and [WithPrecedence] can put the newest one in
	// force. What an operator changes keeps it. 0 to MaxRevision. Default 0, not counted.
	// (props: revision)
	Revision int

	// StaticSharding leaves items where they are until their owner has been gone for
	// ten minutes. (staticSharding)
	StaticSharding bool

	// Label restricts the job to instances that announce this label. It has no commas
	// and no spaces around it. (label)
	Label string
}

// Retry is how an item whose handler returned an error is tried again, while it stays
// with its instance.
type Retry struct {
	// Attempts is how many more times it is tried, up to MaxRetryAttempts. Default 0.
	// (props: retry.attempts)
	Attempts int

	// InitialBackoff is the time before the first of them; it doubles with each.
	// Whole milliseconds; negative is no wait at all. Default 1 s.
	// (props: retry.backoff.initial.milliseconds)
	InitialBackoff time.Duration

	// MaxBackoff is the longest time between two. Whole milliseconds, not less than
	// InitialBackoff. Default 1 min, or InitialBackoff if that is longer.
	// (props: retry.backoff.max.milliseconds)
	MaxBackoff time.Duration
}

// Bounds of a Config. A cron expression has up to 4096 bytes; names of strategies and
// listeners, the names of error handlers together, and a label, have up to 255.
const (
	MaxShardingTotalCount = jobtree.MaxItems
	MaxThreads            = 10_000
	MaxRetryAttempts      = 1_000
	MaxRevision           = math.MaxInt32
	// MaxConfigSize is the size of all fields together in bytes, as [Config.Encode]
	// writes them: a node of every store can have that, and the commit has room for more.
	MaxConfigSize = coord.MaxCommitBytes - 64<<10
)

// Toggle is a boolean whose default is not false. Its zero value means the default.
type Toggle int8

// The positions of a Toggle.
const (
	On Toggle = iota + 1
	Off
)

// ToggleOf returns On for true, Off for false.
func ToggleOf(on bool) Toggle {
	if on {
		return On
	}
	return Off
}

func (t Toggle) String() string {
	switch t {
	case 0:
		return "default"
	case On:
		return "on"
	case Off:
		return "off"
	}
	return "invalid"
}

// Equal reports whether two configurations mean the same: a field that is left out
// equals one that has the default.
func (c Config) Equal(other Config) bool {
	return reflect.DeepEqual(c.WithDefaults(), other.WithDefaults())
}
