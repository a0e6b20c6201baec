package jobfile

import (
	"cmp"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// declared is a job of a file.
type declared struct {
	config   jobtype.Config
	work     work
	disabled bool   // left out
	threads  string // the thread pool, as ElasticJob has it
	source   *value
}

// work says what does the work of a job: one of the two.
type work struct{ jobType, implementation string }

// name is what the registry has of it.
func (w work) name() string { return cmp.Or(w.jobType, w.implementation) }

// Names of fields in the registry that stand in props there.
const inProps = "props: "

// fields are the keys of a job: ElasticJob's as it has them, and ours.
func (d *declared) fields() fields {
	c := &d.config
	return fields{
		{key: "enabled", shape: unless(&d.disabled),
			meaning: "false leaves the job out, as if it did not stand here. Default true."},
		{key: "type", shape: text{&d.work.jobType},
			meaning: "What does the work: SCRIPT, HTTP, or a type of the program. Either this or implementation."},
		{key: "implementation", shape: text{&d.work.implementation},
			meaning: "What does the work: the name of a handler of the program. Either this or type."},

		{key: "cron", shape: text{&c.Cron},
			meaning: "When the job fires, in Quartz syntax with 6 or 7 fields: 0 0/5 * * * ?; or with the 5 fields of Unix cron, in quotation marks: \"*/5 * * * *\". Without it the job is a one-off one, which runs when it is triggered."},
		{key: "moreCrons", shape: several{&c.MoreCrons}, registry: inProps + "cron.more",
			meaning: "Further expressions: the job fires when any of them does. Up to 100."},
		{key: "timeZone", shape: text{&c.TimeZone},
			meaning: "The time zone of cron: an IANA name such as Asia/Shanghai, or GMT+08:00. Default: that of each process."},
		{key: "calendars", shape: several{&c.Calendars}, registry: inProps + "schedule.calendars",
			meaning: "Calendars of the namespace: ticks that one of them leaves out are none. Up to 20."},
		{key: "jitter", shape: duration{to: &c.Jitter}, registry: inProps + "schedule.jitter.milliseconds",
			meaning: "Delays each item by some time below it, always the same one. Default 0s."},
		{key: "expiry", shape: expiryFields(&c.Expiry), meaning: "When the job ends."},
		{key: "overlap", shape: oneOf{(*string)(&c.Overlap), []string{string(jobtype.OverlapWait), string(jobtype.OverlapSkip)}}, registry: inProps + "overlap",
			meaning: "What becomes of a tick that comes while the item still runs. Default WAIT: as misfire says. SKIP: it is skipped."},

		{key: "shardingTotalCount", shape: integer{&c.ShardingTotalCount, 1, jobtype.MaxShardingTotalCount},
			meaning: "How many items the job has. Required, but for a broadcast job."},
		{key: "shardingItemParameters", shape: text{&c.ShardingItemParameters},
			meaning: "Parameters of items: 0=Beijing,1=Shanghai."},
		{key: "jobParameter", shape: text{&c.JobParameter}, meaning: "Free text for the handler."},
		{key: "description", shape: text{&c.Description}, meaning: "Free text for people."},
		{key: "jobShardingStrategyType", shape: text{&c.Strategy},
			meaning: "Assigns the items to instances. Default " + strategy.AvgAllocation + "."},
		{key: "staticSharding", shape: flag(&c.StaticSharding),
			meaning: "Leaves items with their owner until that has been gone for ten minutes. Default false."},
		{key: "broadcast", shape: flag(&c.Broadcast), registry: inProps + "broadcast",
			meaning: "Every instance runs every tick, each with one item. Default false."},
		{key: "label", shape: text{&c.Label}, meaning: "Only instances with this label run items. See node.labels."},
		{key: "maxItems", shape: integer{&c.MaxItems, 0, jobtype.MaxShardingTotalCount}, registry: inProps + "sharding.items.max",
			meaning: "How many items an instance may have. Default 0, no bound."},

		{key: "monitorExecution", shape: toggle(&c.MonitorExecution),
			meaning: "Keeps a record of what runs; without it there is no failover, and no promise that a tick starts once. Default true."},
		{key: "failover", shape: flag(&c.Failover),
			meaning: "Runs an item again elsewhere if its instance ended during the run. Default false."},
		{key: "misfire", shape: toggle(&c.Misfire), meaning: "Runs an item once for all ticks that it has missed. Default true."},
		{key: "misfireTolerance", shape: duration{&c.MisfireTolerance, 1, 0}, registry: inProps + "misfire.tolerance.milliseconds",
			meaning: "How late a tick may start. Default 1s."},
		{key: "misfireWindow", shape: duration{to: &c.MisfireWindow}, registry: inProps + "misfire.window.seconds",
			meaning: "How old a missed tick may be that is made up. Default 0s, no bound."},
		{key: "timeout", shape: duration{to: &c.Timeout}, registry: inProps + "execution.timeout.seconds",
			meaning: "How long an item may run, with all retries. Default 0s, no bound."},
		{key: "retry", shape: retryFields(&c.Retry), meaning: "How an item is tried again if its handler fails."},
		{key: "maxTimeDiffSeconds", shape: units{&c.MaxTimeDiff, second},
			meaning: "How far the clock of a process may be from the store's, in seconds. Default -1, off."},
		{key: "reconcileIntervalMinutes", shape: units{&c.ReconcileInterval, minute},
			meaning: "How often the whole tree is looked at again, in minutes; 0 is off. Default 10."},

		{key: "threads", shape: integer{&c.Threads, 0, jobtype.MaxThreads}, registry: inProps + "executor.threads",
			meaning: "How many items a process runs at a time. Default 0, twice the number of its CPUs."},
		{key: "jobExecutorThreadPoolSizeProviderType", shape: oneOf{&d.threads, []string{"CPU", "SINGLE_THREAD"}},
			meaning: "ElasticJob's name of threads: CPU is 0, SINGLE_THREAD is 1. Not together with threads."},
		{key: "jobErrorHandlerType", shape: text{&c.ErrorHandler},
			meaning: "What is told of failed items: LOG, IGNORE, THROW, WECHAT, DINGTALK, SLACK, WEBHOOK, those of the program, or several with commas between them. Default LOG."},
		{key: "jobListenerTypes", shape: several{&c.Listeners}, meaning: "Names of listeners of the program."},
		{key: keyProps, shape: texts{&c.Props},
			meaning: "Properties of the type and the error handlers, such as script.command.line. References such as ${env:NAME} stay as they are: the type looks them up when it runs."},

		{key: "disabled", shape: flag(&c.Disabled),
			meaning: "Whether a server is disabled when it registers for the first time. Default false. To leave a job out, use enabled."},
		{key: "overwrite", shape: flag(&c.Overwrite),
			meaning: "The file replaces what the registry has, whatever that is. Default false: it does so if its revision is larger."},
		{key: "revision", shape: integer{&c.Revision, 0, jobtype.MaxRevision}, registry: inProps + "revision",
			meaning: "Counts the versions of this job in the file. Raise it with every change: then the change is put in force. Default 0."},
	}
}

func retryFields(r *jobtype.Retry) fields {
	return fields{
		{key: "attempts", shape: integer{&r.Attempts, 0, jobtype.MaxRetryAttempts}, registry: inProps + "retry.attempts",
			meaning: "How many more times an item is tried. Default 0."},
		{key: "initialBackoff", shape: duration{&r.InitialBackoff, 0, off}, registry: inProps + "retry.backoff.initial.milliseconds",
			meaning: "The time before the second attempt; it doubles before each further one. Default 1s."},
		{key: "maxBackoff", shape: duration{&r.MaxBackoff, 1, 0}, registry: inProps + "retry.backoff.max.milliseconds",
			meaning: "The longest time between two attempts. Default 1m."},
	}
}

func expiryFields(e *jobtype.Expiry) fields {
	return fields{
		{key: "at", shape: moment{&e.At}, registry: inProps + "expiry.at",
			meaning: "The last moment for which there may be a tick: 2026-12-24T18:00:00Z, whole seconds. Default: none."},
		{key: "ticks", shape: integer{&e.Ticks, 0, jobtype.MaxExpiryTicks}, registry: inProps + "expiry.ticks",
			meaning: "How many ticks there are, from when the schedule was first recorded. Default 0, no bound."},
		{key: "remove", shape: flag(&e.Remove), registry: inProps + "expiry.remove",
			meaning: "Whether the job is removed from the registry when no tick is to come. Default false."},
	}
}
