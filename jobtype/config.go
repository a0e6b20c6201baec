package jobtype

import (
	"math"
	"reflect"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Config is the configuration of a job. Code gives one, and operators may change it in the
// registry, from where all instances take it. Only Name and ShardingTotalCount have to be
// set:
//
//	job.Config{Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 3,
//		ShardingItemParameters: "0=Beijing,1=Shanghai", Misfire: job.Off}
//
// A field that is left out means its default. The default may be another value than zero:
// a boolean whose default is true is a [Toggle], and a duration of zero stands for the
// default duration. A negative duration switches off what can be switched off.
// [Config.WithDefaults] returns what is in force; there, a duration is on if it is positive,
// and off otherwise.
//
// The registry has all of it in clear text, where everybody can see it who may read the
// job. Do not put passwords and other secrets into it; give them to the process in another
// way. A Config hides nothing when it is printed.
type Config struct {
	// Name identifies the job: 1 to 200 ASCII letters, digits, '.', '_', '-' and
	// ':', but not "." or "..". A renamed job is another job. All programs that give a name in a namespace share
	// the items of one job: two that do different work need two names, or two namespaces. (jobName)
	Name string

	// Cron says when the job fires: in Quartz syntax with 6 or 7 fields, "0 0/5 * * * ?", or with
	// the 5 fields of Unix cron, "*/5 * * * *", which JVM members do not read; see package
	// cronexpr. Empty means a one-off job, which runs when it is triggered. (cron)
	Cron string

	// MoreCrons are further expressions, which need a Cron: the job fires when any of them does,
	// and once where several do at the same time. At most 100. JVM members fire by Cron alone.
	// (props: cron.more, one a line)
	MoreCrons []string

	// Calendars are names of calendars of the namespace; ticks at times that one of them leaves
	// out are none. At most 20, with characters as in Name. See the comment of this package,
	// and packages calendar and ops. (props: schedule.calendars, with commas between them)
	Calendars []string

	// Overlap says what becomes of a tick that comes while the item still runs: OverlapWait, as
	// Misfire says; or OverlapSkip, it is skipped, also while the item waits to be run again
	// after a failover. Misfire holds for what was missed for another reason. JVM members do not
	// know it. Default OverlapWait. (props: overlap)
	Overlap Overlap

	// Jitter delays each item by some time below it, so that not all of them begin at the same
	// moment. An item is always delayed by the same, whichever instance runs it, and begins
	// before the next tick. Its scheduled time is the tick. An item that has not begun a tick yet
	// does not run it if the schedule or a calendar changes, or a pause ends that makes nothing
	// up. Up to MaxJitter, whole milliseconds.
	// Needs MonitorExecution; with it nothing is claimed early (job.WithEarlyClaims). JVM members
	// do not know it. Default 0, none. (props: schedule.jitter.milliseconds)
	Jitter time.Duration

	// Expiry says when the job ends, and whether it is removed then. Default: it does not end.
	Expiry Expiry

	// TimeZone is the time zone of Cron: an IANA name such as "Asia/Shanghai", or
	// "GMT+08:00". Empty means the zone of each process. (timeZone)
	TimeZone string

	// ShardingTotalCount is the number of items that the job is split into, numbered
	// from 0: 1 to MaxShardingTotalCount. With Broadcast it is how many instances may run the
	// job, and DefaultBroadcastCount if it is left out. (shardingTotalCount)
	ShardingTotalCount int

	// ShardingItemParameters gives an item a parameter: "0=Beijing,1=Shanghai".
	// [ParseItemParameters] describes the syntax, [FormatItemParameters] writes it.
	// (shardingItemParameters)
	ShardingItemParameters string

	// JobParameter is free text for the handler. (jobParameter)
	JobParameter string

	// Description is free text for people. (description)
	Description string

	// MonitorExecution keeps a record in the registry of what runs. With it off nothing is
	// written when the job fires; then there is no failover, and no promise that a tick
	// starts once. Default On. (monitorExecution)
	MonitorExecution Toggle

	// Failover runs an item again elsewhere if its run was cut short because its instance
	// ended. Needs MonitorExecution. Default false. (failover)
	Failover bool

	// Misfire makes up for ticks that were missed: it runs the item once for all of them, as
	// soon as possible. Default On. (misfire)
	Misfire Toggle

	// MisfireTolerance is how late a tick may start. A tick that is later counts as missed: also if
	// the host was asleep then, or its clock was set over the tick. A process that waits notices only up to 30 s
	// later that its clock was set, so ticks that come in that time are on time until then. Of several ticks that have come meanwhile
	// the last one may be on time; those before it were missed.
	// Whole milliseconds, at least one. Default 1 s. (props: misfire.tolerance.milliseconds)
	MisfireTolerance time.Duration

	// MisfireWindow bounds how old a missed tick may be. Older ones are not made up for:
	// they are skipped, and observers are told by an EventSkipped. Whole seconds.
	// Default 0, no bound. (props: misfire.window.seconds)
	MisfireWindow time.Duration

	// MaxTimeDiff is how far the clock of a process may be from the store's. An instance
	// whose clock is farther away runs nothing, and its items go to others until its clock is
	// right again. The clocks are compared in the background ([coord.Registry].Clock), so no
	// tick waits for that. As long as the store's clock is unknown, ticks run, and a fault of
	// kind clock says so. Whole seconds; 0 and below is off. Default 0, off. (To ElasticJob only
	// negative numbers are off: at 0 its members report an error at each fire, and then run it. A
	// document keeps its 0 as long as this field is not set.)
	//
	// With any value, also 0, an instance whose clock is more than 10 s off gets no items
	// while there is an instance whose clock is right. (maxTimeDiffSeconds)
	MaxTimeDiff time.Duration

	// ReconcileInterval is how often an instance looks at the whole tree again although it
	// has seen no change. Whole minutes; negative is off. Default 10 min.
	// (reconcileIntervalMinutes)
	ReconcileInterval time.Duration

	// Strategy names the strategy that assigns the items to the instances: one of package
	// strategy, or one of job.WithStrategy. Default AVG_ALLOCATION. (jobShardingStrategyType)
	Strategy string

	// Threads is how many items of this job a process runs at a time, up to MaxThreads.
	// Default 0, twice the number of its CPUs. ElasticJob's CPU means 0, its SINGLE_THREAD 1.
	// (jobExecutorThreadPoolSizeProviderType, before 3.0.5 jobExecutorServiceHandlerType;
	// other numbers in props: executor.threads)
	Threads int

	// ErrorHandler names the error handlers that are told of failed items: LOG, IGNORE, THROW,
	// those of job.WithErrorHandler, or several with commas between them: "LOG,WEBHOOK". They are
	// told in this order. LOG is told first, even if it is not named, unless IGNORE is named:
	// "WEBHOOK" logs, too, and "IGNORE,WEBHOOK" does not. JVM members of the job fail at a
	// list, and at a name that they do not know. Up to 255 bytes. Default LOG.
	// (jobErrorHandlerType)
	ErrorHandler string

	// Listeners are the names of listeners, in their order: those of job.WithListener are told
	// before and after each execution, those of job.WithOnceListener once for each tick. A name
	// that this process does not know refuses the configuration. A change counts from the next
	// execution, or tick, on. JVM members of the job fail at a name that they do not know.
	// (jobListenerTypes)
	Listeners []string

	// Timeout is how long an item may run, with all retries, before its context ends.
	// Whole seconds. Default 0, no bound. (props: execution.timeout.seconds)
	Timeout time.Duration

	// Retry says how an item is tried again if its handler returns an error.
	Retry Retry

	// Props are further properties, for the handler and the error handlers. The names that
	// stand behind other fields as "props: …" are not allowed. (props)
	Props map[string]string

	// Disabled is whether a server is disabled when it registers for the first time. Later
	// only operators disable and enable it. (disabled)
	Disabled bool

	// Overwrite makes a scheduler replace the configuration in the registry by this one each
	// time that it starts, whatever stands there: also what an operator has changed, and what a newer
	// program has written. It does not start then while members of elastic-job 2.1 run the job by a document
	// of theirs, as by a larger Revision: see ErrOldMembers. Default false. (overwrite)
	Overwrite bool

	// Revision counts the versions of this configuration in code. Raise it with every change in
	// code: a program that starts with a larger one than the registry's replaces the configuration
	// there. So the newest one wins, also if old and new programs start at the same time, and what an
	// operator changes, which keeps the revision, stays until the next one. A configuration in the
	// registry that has faults is replaced, too, unless its revision cannot be read: it may be the
	// larger one. Otherwise the registry's stays in force, and if they differ, a warning in the log
	// lists the fields. 0 to MaxRevision. Default 0, not counted: the registry's stays in force.
	// (props: revision)
	Revision int

	// MaxItems bounds how many items of the job an instance may have, at every moment. An item that
	// runs counts where it runs until its execution ends, wherever it is to go. So an idle item
	// may have to wait for that, and an item that was cut short for an instance that has room: only its
	// owner runs it again, so the leader moves it first. Items for which there is no room have no owner, and
	// a fault says so. Only pinned items are assigned, and run, beyond the bound. 0 is no bound. Default 0.
	// (props: sharding.items.max)
	MaxItems int

	// StaticSharding leaves items with their owner until that has been gone for ten minutes. With MaxItems
	// an item that was cut short does not stay with an owner that has gone.
	// (staticSharding)
	StaticSharding bool

	// Broadcast makes every instance run every tick: each owns one item, and keeps it as long as
	// it may have items. No strategy is asked. A new instance gets the lowest item that is free,
	// and begins with the next tick. A tick that an instance has missed is made up by that
	// instance or, if it has ended, by nobody. ShardingTotalCount bounds the instances; if there
	// are more, a fault says so.
	//
	// Items without an instance have no owner, and requests skip them. An item begins anew with
	// each owner: without a cursor, and without a last outcome. A new session is a new owner.
	// Failover, StaticSharding and MaxItems are not allowed with it, and pins have no effect. It
	// works without MonitorExecution, too. ShardingContext.Total is the number of items that have
	// an owner.
	//
	// A JVM member does not know it. If it leads it assigns all items, and each Go instance runs one
	// of its items then; a fault names it. When this field changes, ticks that have come by then
	// and were not begun do not run. Default false. (props: broadcast)
	Broadcast bool

	// Label restricts the job to instances that have this label: see job.WithLabels. It has no
	// commas, and no spaces around it. (label)
	Label string
}

// Retry says how an item is tried again, by the same instance, if its handler returns an
// error.
type Retry struct {
	// Attempts is how many more times it is tried, up to MaxRetryAttempts. Default 0.
	// (props: retry.attempts)
	Attempts int

	// InitialBackoff is the time before the second attempt. It doubles before each further
	// one. Whole milliseconds; negative is no wait at all. Default 1 s.
	// (props: retry.backoff.initial.milliseconds)
	InitialBackoff time.Duration

	// MaxBackoff is the longest time between two attempts. Whole milliseconds, not less than
	// InitialBackoff. Default 1 min, or InitialBackoff if that is longer.
	// (props: retry.backoff.max.milliseconds)
	MaxBackoff time.Duration
}

// Expiry says when a job ends. No tick begins after its end. What was missed before is still made
// up, and what was cut short is run again. Until it is removed, the job also runs for requests.
// job.Status.Expired says that no tick is to come; that is no fault then. JVM members know no end,
// and neither do members of versions without it: they run on. A fault names JVM members.
type Expiry struct {
	// At is the last moment for which there may be a tick. Whole seconds. The zero time is no bound.
	// A one-off job expires at this time. (props: expiry.at, in RFC 3339)
	At time.Time

	// Ticks is how many ticks there are, from when the leader has first recorded the expressions of
	// the job, or this number. If one of them changes the count begins anew; with calendars and
	// pauses it goes on, by the calendars as they are then. Ticks that nobody has run count, too:
	// those of a pause, say. Needs a Cron. Up to MaxExpiryTicks. Default 0, no bound.
	// (props: expiry.ticks)
	Ticks int

	// Remove makes the leader remove the job when no tick is to come: after its end, or because
	// its expressions have none any more, as "0 30 9 1 12 ? 2026" after 2026. The leader waits
	// until no item runs or has anything to make up, and until no request is there, not even one
	// that is kept for whoever waits for it. It waits for the end of a pause, as long as there
	// are JVM members, and, if ticks have come, as long as nobody may have an item. Schedulers of the job then stop with ErrJobRemoved, and a start fails with
	// it, unless its Revision is higher. Needs MonitorExecution, and in a one-off job At. Default
	// false. (props: expiry.remove)
	Remove bool
}

// Overlap says what becomes of a tick that comes while its item still runs.
type Overlap string

// The values of Config.Overlap.
const (
	OverlapWait Overlap = "WAIT"
	OverlapSkip Overlap = "SKIP"
)

// Bounds of a Config. Besides, a cron expression has up to 4096 bytes. The name of a
// strategy, that of a listener, the list of error handlers, and a label have up to 255 each.
const (
	MaxShardingTotalCount = jobtree.MaxItems
	DefaultBroadcastCount = 256
	MaxThreads            = 10_000
	MaxRetryAttempts      = 1_000
	MaxRevision           = math.MaxInt32
	MaxJitter             = 24 * time.Hour
	MaxExpiryTicks        = 10_000
	// MaxConfigSize bounds all fields together, in bytes as [Config.Encode] writes them. A
	// node of every store holds that much, and a commit that writes it has room for more.
	MaxConfigSize = jobconf.MaxSize
)

// Toggle is a boolean whose default is true. Its zero value means the default.
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
