package jobtype

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// The values that are allowed for jobExecutorThreadPoolSizeProviderType.
const (
	threadPoolCPU    = "CPU"
	threadPoolSingle = "SINGLE_THREAD"
)

// ownProps returns the properties that belong to fields of a Config.
func ownProps() []string {
	return []string{jobconf.KeyMoreCrons, jobconf.KeyCalendars, jobconf.KeyOverlap, jobconf.KeyJitter, jobconf.KeyExpiresAt, jobconf.KeyExpiryTicks, jobconf.KeyRemoveExpired, jobconf.KeyMisfireTolerance, jobconf.KeyMisfireWindow, jobconf.KeyTimeout, jobconf.KeyRetryAttempts, jobconf.KeyInitialBackoff, jobconf.KeyMaxBackoff, jobconf.KeyMaxItems, jobconf.KeyBroadcast, jobconf.KeyThreads, jobconf.KeyRevision}
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
		textField(jobconf.KeyCron, &c.Cron, false),
		textField(jobconf.KeyDescription, &c.Description, true),
		boolField(jobconf.KeyDisabled, &c.Disabled),
		textField(jobconf.KeyErrorHandler, &c.ErrorHandler, false),
		boolField(jobconf.KeyFailover, &c.Failover),
		textField(jobconf.KeyItemParameters, &c.ShardingItemParameters, true),
		textField(jobconf.KeyJobParameter, &c.JobParameter, true),
		textField(jobconf.KeyLabel, &c.Label, false),
		durationField(jobconf.KeyMaxTimeDiff, &c.MaxTimeDiff, time.Second, "-1", 0),
		toggleField(jobconf.KeyMisfire, &c.Misfire),
		toggleField(jobconf.KeyMonitorExecution, &c.MonitorExecution),
		textField(jobconf.KeyName, &c.Name, true),
		boolField(jobconf.KeyOverwrite, &c.Overwrite),
		durationField(jobconf.KeyReconcileInterval, &c.ReconcileInterval, time.Minute, "0", switchedOff),
		boolField(jobconf.KeyStaticSharding, &c.StaticSharding),
		textField(jobconf.KeyStrategy, &c.Strategy, false),
		textField(jobconf.KeyTimeZone, &c.TimeZone, false),
		intField(jobconf.KeyTotal, &c.ShardingTotalCount),
	}
}

// propFields returns the fields of a Config that stand in props.
func (c *Config) propFields() []field {
	fields := []field{
		linesField(jobconf.KeyMoreCrons, &c.MoreCrons),
		namesField(jobconf.KeyCalendars, &c.Calendars),
		textField(jobconf.KeyOverlap, (*string)(&c.Overlap), false),
		durationField(jobconf.KeyJitter, &c.Jitter, time.Millisecond, "0", 0),
		timeField(jobconf.KeyExpiresAt, &c.Expiry.At),
		intField(jobconf.KeyExpiryTicks, &c.Expiry.Ticks),
		boolField(jobconf.KeyRemoveExpired, &c.Expiry.Remove),
		durationField(jobconf.KeyMisfireTolerance, &c.MisfireTolerance, time.Millisecond, "", 0),
		durationField(jobconf.KeyMisfireWindow, &c.MisfireWindow, time.Second, "0", 0),
		durationField(jobconf.KeyTimeout, &c.Timeout, time.Second, "0", 0),
		intField(jobconf.KeyRetryAttempts, &c.Retry.Attempts),
		durationField(jobconf.KeyInitialBackoff, &c.Retry.InitialBackoff, time.Millisecond, "0", switchedOff),
		durationField(jobconf.KeyMaxBackoff, &c.Retry.MaxBackoff, time.Millisecond, "", 0),
		intField(jobconf.KeyMaxItems, &c.MaxItems),
		boolField(jobconf.KeyBroadcast, &c.Broadcast),
		intField(jobconf.KeyThreads, &c.Threads),
		intField(jobconf.KeyRevision, &c.Revision),
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
// "switched off"; zero and negative numbers are read as that, which is isOff. If off is empty, the duration
// cannot be switched off.
func durationField(key string, p *time.Duration, unit time.Duration, off string, isOff time.Duration) field {
	most := mostUnits(unit)
	set := func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err == nil && off != "" && n <= 0:
			*p = isOff
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
