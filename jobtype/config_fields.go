package jobtype

import (
	"errors"
	"fmt"
	"slices"
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

// isOwnProp reports whether a property belongs to a field of a Config.
func isOwnProp(key string) bool {
	return slices.ContainsFunc(propFields, func(f field) bool { return f.key == key })
}

// field is one key of the document, with the field of a Config that it belongs to.
type field struct {
	key string
	// set sets the field to the value that a text stands for.
	set func(c *Config, text string) error
	// get returns the field's value as text. Equal values have equal texts.
	get func(c *Config) string
	// tag is the YAML type of the value.
	tag string
	// always is whether the key is written even if the field has its default, as ElasticJob
	// does.
	always bool
}

// fields are the single values of a document, without those in props.
var fields = []field{
	textField(jobconf.KeyCron, func(c *Config) *string { return &c.Cron }, false),
	textField(jobconf.KeyDescription, func(c *Config) *string { return &c.Description }, true),
	boolField(jobconf.KeyDisabled, func(c *Config) *bool { return &c.Disabled }),
	textField(jobconf.KeyErrorHandler, func(c *Config) *string { return &c.ErrorHandler }, false),
	boolField(jobconf.KeyFailover, func(c *Config) *bool { return &c.Failover }),
	textField(jobconf.KeyItemParameters, func(c *Config) *string { return &c.ShardingItemParameters }, true),
	textField(jobconf.KeyJobParameter, func(c *Config) *string { return &c.JobParameter }, true),
	textField(jobconf.KeyLabel, func(c *Config) *string { return &c.Label }, false),
	durationField(jobconf.KeyMaxTimeDiff, func(c *Config) *time.Duration { return &c.MaxTimeDiff }, time.Second, "-1", 0),
	toggleField(jobconf.KeyMisfire, func(c *Config) *Toggle { return &c.Misfire }),
	toggleField(jobconf.KeyMonitorExecution, func(c *Config) *Toggle { return &c.MonitorExecution }),
	textField(jobconf.KeyName, func(c *Config) *string { return &c.Name }, true),
	boolField(jobconf.KeyOverwrite, func(c *Config) *bool { return &c.Overwrite }),
	durationField(jobconf.KeyReconcileInterval, func(c *Config) *time.Duration { return &c.ReconcileInterval }, time.Minute, "0", switchedOff),
	boolField(jobconf.KeyStaticSharding, func(c *Config) *bool { return &c.StaticSharding }),
	textField(jobconf.KeyStrategy, func(c *Config) *string { return &c.Strategy }, false),
	textField(jobconf.KeyTimeZone, func(c *Config) *string { return &c.TimeZone }, false),
	intField(jobconf.KeyTotal, func(c *Config) *int { return &c.ShardingTotalCount }),
}

// propFields are the fields of a Config that stand in props. ElasticJob reads those as Java's Properties, which have strings
// only.
var propFields = inProps([]field{
	linesField(jobconf.KeyMoreCrons, func(c *Config) *[]string { return &c.MoreCrons }),
	namesField(jobconf.KeyCalendars, func(c *Config) *[]string { return &c.Calendars }),
	textField(jobconf.KeyOverlap, func(c *Config) *string { return (*string)(&c.Overlap) }, false),
	durationField(jobconf.KeyJitter, func(c *Config) *time.Duration { return &c.Jitter }, time.Millisecond, "0", 0),
	timeField(jobconf.KeyExpiresAt, func(c *Config) *time.Time { return &c.Expiry.At }),
	intField(jobconf.KeyExpiryTicks, func(c *Config) *int { return &c.Expiry.Ticks }),
	boolField(jobconf.KeyRemoveExpired, func(c *Config) *bool { return &c.Expiry.Remove }),
	durationField(jobconf.KeyMisfireTolerance, func(c *Config) *time.Duration { return &c.MisfireTolerance }, time.Millisecond, "", 0),
	durationField(jobconf.KeyMisfireWindow, func(c *Config) *time.Duration { return &c.MisfireWindow }, time.Second, "0", 0),
	durationField(jobconf.KeyTimeout, func(c *Config) *time.Duration { return &c.Timeout }, time.Second, "0", 0),
	intField(jobconf.KeyRetryAttempts, func(c *Config) *int { return &c.Retry.Attempts }),
	durationField(jobconf.KeyInitialBackoff, func(c *Config) *time.Duration { return &c.Retry.InitialBackoff }, time.Millisecond, "0", switchedOff),
	durationField(jobconf.KeyMaxBackoff, func(c *Config) *time.Duration { return &c.Retry.MaxBackoff }, time.Millisecond, "", 0),
	intField(jobconf.KeyMaxItems, func(c *Config) *int { return &c.MaxItems }),
	boolField(jobconf.KeyBroadcast, func(c *Config) *bool { return &c.Broadcast }),
	intField(jobconf.KeyThreads, func(c *Config) *int { return &c.Threads }),
	intField(jobconf.KeyRevision, func(c *Config) *int { return &c.Revision }),
})

func inProps(fields []field) []field {
	for i := range fields {
		fields[i].tag, fields[i].always = "!!str", false
	}
	return fields
}

func textField(key string, of func(*Config) *string, always bool) field {
	return field{key, func(c *Config, text string) error { *of(c) = text; return nil }, func(c *Config) string { return *of(c) }, "!!str", always}
}

// linesField is a list of texts that is written as lines.
func linesField(key string, of func(*Config) *[]string) field {
	set := func(c *Config, text string) error {
		*of(c) = nil
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				*of(c) = append(*of(c), line)
			}
		}
		return nil
	}
	return field{key, set, func(c *Config) string { return strings.Join(*of(c), "\n") }, "!!str", false}
}

// namesField is a list of names that is written with commas between them.
func namesField(key string, of func(*Config) *[]string) field {
	set := func(c *Config, text string) error {
		*of(c) = nil
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				*of(c) = append(*of(c), name)
			}
		}
		return nil
	}
	return field{key, set, func(c *Config) string { return strings.Join(*of(c), ",") }, "!!str", false}
}

func boolField(key string, of func(*Config) *bool) field {
	set := func(c *Config, text string) (err error) {
		*of(c), err = parseBool(text)
		return err
	}
	return field{key, set, func(c *Config) string { return strconv.FormatBool(*of(c)) }, "!!bool", true}
}

func toggleField(key string, of func(*Config) *Toggle) field {
	set := func(c *Config, text string) error {
		on, err := parseBool(text)
		if err == nil {
			*of(c) = ToggleOf(on)
		}
		return err
	}
	return field{key, set, func(c *Config) string { return strconv.FormatBool(*of(c) == On) }, "!!bool", true}
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

func intField(key string, of func(*Config) *int) field {
	set := func(c *Config, text string) error {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return errors.New("an integer is allowed")
		}
		*of(c) = int(n)
		return nil
	}
	return field{key, set, func(c *Config) string { return strconv.Itoa(*of(c)) }, "!!int", true}
}

// timeField is a moment that is written in RFC 3339. An empty text is none.
func timeField(key string, of func(*Config) *time.Time) field {
	set := func(c *Config, text string) error {
		*of(c) = time.Time{}
		if text == "" {
			return nil
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return fmt.Errorf("a time in RFC 3339 is allowed, such as %s", "2027-01-31T09:30:00Z")
		}
		*of(c) = at.UTC()
		return nil
	}
	get := func(c *Config) string {
		if of(c).IsZero() {
			return ""
		}
		return of(c).UTC().Format(time.RFC3339Nano)
	}
	return field{key, set, get, "!!str", false}
}

// durationField is a duration that is written as a number of units. off is the text for
// "switched off"; zero and negative numbers are read as that, which is isOff. If off is empty, the duration
// cannot be switched off.
func durationField(key string, of func(*Config) *time.Duration, unit time.Duration, off string, isOff time.Duration) field {
	most := mostUnits(unit)
	set := func(c *Config, text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err == nil && off != "" && n <= 0:
			*of(c) = isOff
		case err == nil && n > 0 && n <= most:
			*of(c) = time.Duration(n) * unit
		case off == "":
			return fmt.Errorf("a number of times %v, 1 to %d, is allowed", unit, most)
		default:
			return fmt.Errorf("a number of times %v, 1 to %d, is allowed, and %s for none", unit, most, off)
		}
		return nil
	}
	get := func(c *Config) string {
		if *of(c) <= 0 {
			return off
		}
		return strconv.FormatInt(int64(*of(c)/unit), 10)
	}
	return field{key, set, get, "!!int", true}
}
