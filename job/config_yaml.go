package job

// The names of the fields in the registry, which is also how errors call them.
const (
	keyCron              = "cron"
	keyDescription       = "description"
	keyDisabled          = "disabled"
	keyErrorHandler      = "jobErrorHandlerType"
	keyFailover          = "failover"
	keyItemParameters    = "shardingItemParameters"
	keyJobParameter      = "jobParameter"
	keyLabel             = "label"
	keyListeners         = "jobListenerTypes"
	keyMaxTimeDiff       = "maxTimeDiffSeconds"
	keyMisfire           = "misfire"
	keyMonitorExecution  = "monitorExecution"
	keyName              = "jobName"
	keyOverwrite         = "overwrite"
	keyProps             = "props"
	keyReconcileInterval = "reconcileIntervalMinutes"
	keyStaticSharding    = "staticSharding"
	keyStrategy          = "jobShardingStrategyType"
	keyTimeZone          = "timeZone"
	keyTotal             = "shardingTotalCount"

	// What ElasticJob does not have stands in its string map.
	propsPrefix         = "props: "
	keyMisfireTolerance = propsPrefix + "misfire.tolerance.milliseconds"
	keyMisfireWindow    = propsPrefix + "misfire.window.seconds"
	keyTimeout          = propsPrefix + "execution.timeout.seconds"
	keyRetryAttempts    = propsPrefix + "retry.attempts"
	keyInitialBackoff   = propsPrefix + "retry.backoff.initial.milliseconds"
	keyMaxBackoff       = propsPrefix + "retry.backoff.max.milliseconds"
	keyThreads          = propsPrefix + "executor.threads"
)

// ownProps are the properties that belong to fields of a Config.
func ownProps() []string {
	return []string{keyMisfireTolerance, keyMisfireWindow, keyTimeout, keyRetryAttempts, keyInitialBackoff, keyMaxBackoff, keyThreads}
}
