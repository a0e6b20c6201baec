// Package jobconf has what packages job and jobtype both know of configurations as they stand in the registry: their
// keys, their size, and what documents of elastic-job 2.1 look like.
package jobconf

// The names of the fields in the registry. Errors use them, too.
const (
	KeyConfig            = "config" // the document itself
	KeyCron              = "cron"
	KeyDescription       = "description"
	KeyDisabled          = "disabled"
	KeyErrorHandler      = "jobErrorHandlerType"
	KeyFailover          = "failover"
	KeyItemParameters    = "shardingItemParameters"
	KeyJobParameter      = "jobParameter"
	KeyLabel             = "label"
	KeyListeners         = "jobListenerTypes"
	KeyMaxTimeDiff       = "maxTimeDiffSeconds"
	KeyMisfire           = "misfire"
	KeyMonitorExecution  = "monitorExecution"
	KeyName              = "jobName"
	KeyOverwrite         = "overwrite"
	KeyProps             = "props"
	KeyReconcileInterval = "reconcileIntervalMinutes"
	KeyStaticSharding    = "staticSharding"
	KeyStrategy          = "jobShardingStrategyType"
	KeyTimeZone          = "timeZone"
	KeyTotal             = "shardingTotalCount"

	// The number of threads, in ElasticJob since 3.0.5 and before.
	KeyThreadPool    = "jobExecutorThreadPoolSizeProviderType"
	KeyThreadPoolOld = "jobExecutorServiceHandlerType"

	// Fields that ElasticJob does not have stand in props, its map of strings.
	PropsPrefix         = KeyProps + ": "
	KeyMoreCrons        = PropsPrefix + "cron.more"
	KeyCalendars        = PropsPrefix + "schedule.calendars"
	KeyOverlap          = PropsPrefix + "overlap"
	KeyJitter           = PropsPrefix + "schedule.jitter.milliseconds"
	KeyExpiresAt        = PropsPrefix + "expiry.at"
	KeyExpiryTicks      = PropsPrefix + "expiry.ticks"
	KeyRemoveExpired    = PropsPrefix + "expiry.remove"
	KeyMisfireTolerance = PropsPrefix + "misfire.tolerance.milliseconds"
	KeyMisfireWindow    = PropsPrefix + "misfire.window.seconds"
	KeyTimeout          = PropsPrefix + "execution.timeout.seconds"
	KeyRetryAttempts    = PropsPrefix + "retry.attempts"
	KeyInitialBackoff   = PropsPrefix + "retry.backoff.initial.milliseconds"
	KeyMaxBackoff       = PropsPrefix + "retry.backoff.max.milliseconds"
	KeyMaxItems         = PropsPrefix + "sharding.items.max"
	KeyBroadcast        = PropsPrefix + "broadcast"
	KeyThreads          = PropsPrefix + "executor.threads"
	KeyRevision         = PropsPrefix + "revision"
)

// KeyExtra is ElasticJob's key for what its extensions add.
const KeyExtra = "jobExtraConfigurations"
