package job

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The names of the fields in the registry. Errors use them, too.
const (
	keyConfig            = "config" // the document itself
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

	// The number of threads, in ElasticJob since 3.0.5 and before.
	keyThreadPool    = "jobExecutorThreadPoolSizeProviderType"
	keyThreadPoolOld = "jobExecutorServiceHandlerType"

	// Fields that ElasticJob does not have stand in props, its map of strings.
	propsPrefix         = keyProps + ": "
	keyMoreCrons        = propsPrefix + "cron.more"
	keyCalendars        = propsPrefix + "schedule.calendars"
	keyOverlap          = propsPrefix + "overlap"
	keyJitter           = propsPrefix + "schedule.jitter.milliseconds"
	keyExpiresAt        = propsPrefix + "expiry.at"
	keyExpiryTicks      = propsPrefix + "expiry.ticks"
	keyRemoveExpired    = propsPrefix + "expiry.remove"
	keyMisfireTolerance = propsPrefix + "misfire.tolerance.milliseconds"
	keyMisfireWindow    = propsPrefix + "misfire.window.seconds"
	keyTimeout          = propsPrefix + "execution.timeout.seconds"
	keyRetryAttempts    = propsPrefix + "retry.attempts"
	keyInitialBackoff   = propsPrefix + "retry.backoff.initial.milliseconds"
	keyMaxBackoff       = propsPrefix + "retry.backoff.max.milliseconds"
	keyMaxItems         = propsPrefix + "sharding.items.max"
	keyBroadcast        = propsPrefix + "broadcast"
	keyThreads          = propsPrefix + "executor.threads"
	keyRevision         = propsPrefix + "revision"
)

// The values that are allowed for jobExecutorThreadPoolSizeProviderType.
const (
	threadPoolCPU    = "CPU"
	threadPoolSingle = "SINGLE_THREAD"
)

// ownProps returns the properties that belong to fields of a Config.
func ownProps() []string {
	return []string{keyMoreCrons, keyCalendars, keyOverlap, keyJitter, keyExpiresAt, keyExpiryTicks, keyRemoveExpired, keyMisfireTolerance, keyMisfireWindow, keyTimeout, keyRetryAttempts, keyInitialBackoff, keyMaxBackoff, keyMaxItems, keyBroadcast, keyThreads, keyRevision}
}

// field is one key of the document, with the field of a Config that it belongs to.
type field struct {
	key string
	// set sets the field to the value that a text stands for.
	set func(text string) error
	// get returns the field's value as text. Equal values have equal texts.
	get func() string
	// tag is the YAML type of the value.
	tag string
	// always is whether the key is written even if the field has its default, as ElasticJob
	// does.
	always bool
}

// fields returns the single values of a document, without those in props.
func (c *Config) fields() []field {
	return []field{
		textField(keyCron, &c.Cron, false),
		textField(keyDescription, &c.Description, true),
		boolField(keyDisabled, &c.Disabled),
		textField(keyErrorHandler, &c.ErrorHandler, false),
		boolField(keyFailover, &c.Failover),
		textField(keyItemParameters, &c.ShardingItemParameters, true),
		textField(keyJobParameter, &c.JobParameter, true),
		textField(keyLabel, &c.Label, false),
		durationField(keyMaxTimeDiff, &c.MaxTimeDiff, time.Second, "-1"),
		toggleField(keyMisfire, &c.Misfire),
		toggleField(keyMonitorExecution, &c.MonitorExecution),
		textField(keyName, &c.Name, true),
		boolField(keyOverwrite, &c.Overwrite),
		durationField(keyReconcileInterval, &c.ReconcileInterval, time.Minute, "0"),
		boolField(keyStaticSharding, &c.StaticSharding),
		textField(keyStrategy, &c.Strategy, false),
		textField(keyTimeZone, &c.TimeZone, false),
		intField(keyTotal, &c.ShardingTotalCount),
	}
}

// propFields returns the fields of a Config that stand in props.
func (c *Config) propFields() []field {
	fields := []field{
		linesField(keyMoreCrons, &c.MoreCrons),
		namesField(keyCalendars, &c.Calendars),
		textField(keyOverlap, &c.Overlap, false),
		durationField(keyJitter, &c.Jitter, time.Millisecond, "0"),
		timeField(keyExpiresAt, &c.Expiry.At),
		intField(keyExpiryTicks, &c.Expiry.Ticks),
		boolField(keyRemoveExpired, &c.Expiry.Remove),
		durationField(keyMisfireTolerance, &c.MisfireTolerance, time.Millisecond, ""),
		durationField(keyMisfireWindow, &c.MisfireWindow, time.Second, "0"),
		durationField(keyTimeout, &c.Timeout, time.Second, "0"),
		intField(keyRetryAttempts, &c.Retry.Attempts),
		durationField(keyInitialBackoff, &c.Retry.InitialBackoff, time.Millisecond, "0"),
		durationField(keyMaxBackoff, &c.Retry.MaxBackoff, time.Millisecond, ""),
		intField(keyMaxItems, &c.MaxItems),
		boolField(keyBroadcast, &c.Broadcast),
		intField(keyThreads, &c.Threads),
		intField(keyRevision, &c.Revision),
	}
	for i := range fields {
		// ElasticJob reads props as Java's Properties, which have strings only.
		fields[i].tag, fields[i].always = "!!str", false
	}
	return fields
}

func textField(key string, p *string, always bool) field {
	return field{key, func(text string) error { *p = text; return nil }, func() string { return *p }, "!!str", always}
}

// linesField is a list of texts that is written as lines.
func linesField(key string, p *[]string) field {
	set := func(text string) error {
		*p = nil
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				*p = append(*p, line)
			}
		}
		return nil
	}
	return field{key, set, func() string { return strings.Join(*p, "\n") }, "!!str", false}
}

// namesField is a list of names that is written with commas between them.
func namesField(key string, p *[]string) field {
	set := func(text string) error {
		*p = nil
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				*p = append(*p, name)
			}
		}
		return nil
	}
	return field{key, set, func() string { return strings.Join(*p, ",") }, "!!str", false}
}

func boolField(key string, p *bool) field {
	set := func(text string) (err error) {
		*p, err = parseBool(text)
		return err
	}
	return field{key, set, func() string { return strconv.FormatBool(*p) }, "!!bool", true}
}

func toggleField(key string, p *Toggle) field {
	set := func(text string) error {
		on, err := parseBool(text)
		if err == nil {
			*p = ToggleOf(on)
		}
		return err
	}
	return field{key, set, func() string { return strconv.FormatBool(*p == On) }, "!!bool", true}
}

// parseBool reads all that YAML 1.1 calls a boolean, as JVM members do.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, errors.New("true and false are allowed")
}

func intField(key string, p *int) field {
	set := func(text string) error {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return errors.New("an integer is allowed")
		}
		*p = int(n)
		return nil
	}
	return field{key, set, func() string { return strconv.Itoa(*p) }, "!!int", true}
}

// timeField is a moment that is written in RFC 3339. An empty text is none.
func timeField(key string, p *time.Time) field {
	set := func(text string) error {
		*p = time.Time{}
		if text == "" {
			return nil
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return fmt.Errorf("a time in RFC 3339 is allowed, such as %s", "2027-01-31T09:30:00Z")
		}
		*p = at.UTC()
		return nil
	}
	get := func() string {
		if p.IsZero() {
			return ""
		}
		return p.UTC().Format(time.RFC3339Nano)
	}
	return field{key, set, get, "!!str", false}
}

// durationField is a duration that is written as a number of units. off is the text for
// "switched off"; zero and negative numbers are read as that. If off is empty, the duration
// cannot be switched off.
func durationField(key string, p *time.Duration, unit time.Duration, off string) field {
	most := mostUnits(unit)
	set := func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err == nil && off != "" && n <= 0:
			*p = switchedOff
		case err == nil && n > 0 && n <= most:
			*p = time.Duration(n) * unit
		case off == "":
			return fmt.Errorf("a number of times %v, 1 to %d, is allowed", unit, most)
		default:
			return fmt.Errorf("a number of times %v, 1 to %d, is allowed, and %s for none", unit, most, off)
		}
		return nil
	}
	get := func() string {
		if *p <= 0 {
			return off
		}
		return strconv.FormatInt(int64(*p/unit), 10)
	}
	return field{key, set, get, "!!int", true}
}
