package jobtype

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// ConfigError lists what is wrong with a configuration. errors.Is finds [ErrInvalidConfig]
// in it, and errors.As a *FieldError.
type ConfigError struct {
	Job    string        // Config.Name
	Faults []*FieldError // the first ones; this package lists at most MaxFaults
	More   int           // how many more there are
	// Partial is whether values of a document could not be read: the configuration that comes with the error lacks them.
	Partial bool
}

// MaxFaults bounds how many faults a ConfigError of this package lists, and how many the
// text of any ConfigError shows.
const MaxFaults = 10

// Error puts the faults into one line of bounded length.
func (e *ConfigError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", ErrInvalidConfig, brief.Quote(e.Job))
	shown := min(len(e.Faults), MaxFaults)
	for i, fault := range e.Faults[:shown] {
		b.WriteString([...]string{": ", "; "}[min(i, 1)])
		b.WriteString(fault.Error())
	}
	if more := e.More + len(e.Faults) - shown; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// Unwrap returns ErrInvalidConfig and the faults.
func (e *ConfigError) Unwrap() []error {
	errs := []error{ErrInvalidConfig}
	for _, fault := range e.Faults {
		errs = append(errs, fault)
	}
	return errs
}

// FieldError is what is wrong with one field.
type FieldError struct {
	Field string // its name in the registry, such as "shardingTotalCount"; see Config
	Value string // its value as text; empty if Err shows it, and for Props, which may be secret
	Err   error  // what is wrong with it, and what is allowed
}

// Error returns all three in one line, and shortens what is long.
func (e *FieldError) Error() string {
	const most = 500
	field, problem := brief.Text(e.Field), brief.Cut(e.Err.Error(), most)
	if e.Value == "" {
		return fmt.Sprintf("%s: %s", field, problem)
	}
	return fmt.Sprintf("%s %s: %s", field, brief.Cut(e.Value, most), problem)
}

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// Validate checks the configuration with its defaults. Every configuration goes through it,
// from code and from the registry. It does not check whether the names in Strategy,
// ErrorHandler and Listeners are known: each scheduler does that when it starts.
//
// The error is a *ConfigError that lists the faults.
func (c Config) Validate() error {
	return c.check(nil)
}

// check is Validate for a configuration that was read from a document, with the faults that
// were found there. It keeps only the first fault of a field.
func (c Config) check(found []*FieldError) error {
	v := validator{seen: map[string]bool{}}
	for _, fault := range found {
		v.add(fault)
	}
	c = c.WithDefaults()
	v.fields(c)
	if len(v.faults) == 0 {
		v.size(c)
	}
	if len(v.faults) == 0 {
		return nil
	}
	shown := min(len(v.faults), MaxFaults)
	return &ConfigError{Job: c.Name, Faults: slices.Clip(v.faults[:shown]), More: len(v.faults) - shown, Partial: len(found) > 0}
}

type validator struct {
	faults []*FieldError
	seen   map[string]bool // the fields that have a fault
}

func (v *validator) fields(c Config) {
	if !jobtree.IsName(c.Name) {
		v.fault(jobconf.KeyName, brief.Quote(c.Name), "1 to %d ASCII letters, digits, '.', '_', '-' and ':' are allowed, but not %q or %q", jobtree.MaxNameLength, ".", "..")
	}
	if len(c.Cron) > maxCronLength {
		v.fault(jobconf.KeyCron, brief.Quote(c.Cron), "%d bytes, at most %d are allowed", len(c.Cron), maxCronLength)
	} else if err := c.checkCron(); err != nil {
		v.cronFault(c, err)
	}
	v.moreCrons(c)
	v.calendars(c)
	switch c.Overlap {
	case OverlapWait, OverlapSkip:
	default:
		v.fault(jobconf.KeyOverlap, brief.Quote(string(c.Overlap)), "%s and %s are allowed", OverlapWait, OverlapSkip)
	}
	if c.ShardingTotalCount < 1 || c.ShardingTotalCount > MaxShardingTotalCount {
		v.fault(jobconf.KeyTotal, strconv.Itoa(c.ShardingTotalCount), "1 to %d are allowed", MaxShardingTotalCount)
	}
	v.parameters(c)
	v.utf8(jobconf.KeyJobParameter, c.JobParameter)
	v.utf8(jobconf.KeyDescription, c.Description)
	v.name(jobconf.KeyStrategy, c.Strategy)
	v.name(jobconf.KeyErrorHandler, c.ErrorHandler)
	if _, err := c.ErrorHandlerNames(); err != nil {
		v.add(&FieldError{Field: jobconf.KeyErrorHandler, Value: brief.Quote(c.ErrorHandler), Err: err})
	}
	v.toggle(jobconf.KeyMonitorExecution, c.MonitorExecution)
	v.toggle(jobconf.KeyMisfire, c.Misfire)
	if c.Failover && c.MonitorExecution == Off {
		v.fault(jobconf.KeyFailover, "true", "needs %s, whose records tell what was cut short: set %[1]s to true, or %s to false", jobconf.KeyMonitorExecution, jobconf.KeyFailover)
	}

	v.bound(jobconf.KeyJitter, c.Jitter, time.Millisecond)
	switch {
	case c.Jitter > MaxJitter:
		v.fault(jobconf.KeyJitter, c.Jitter.String(), "at most %v is allowed", MaxJitter)
	case c.Jitter > 0 && c.MonitorExecution == Off:
		v.fault(jobconf.KeyJitter, c.Jitter.String(), "needs %s, whose records tell which items have begun", jobconf.KeyMonitorExecution)
	}
	v.expiry(c)
	v.duration(jobconf.KeyMisfireTolerance, c.MisfireTolerance, time.Millisecond, true)
	v.bound(jobconf.KeyMisfireWindow, c.MisfireWindow, time.Second)
	v.duration(jobconf.KeyMaxTimeDiff, c.MaxTimeDiff, time.Second, false)
	v.duration(jobconf.KeyReconcileInterval, c.ReconcileInterval, time.Minute, false)
	v.bound(jobconf.KeyTimeout, c.Timeout, time.Second)
	v.duration(jobconf.KeyInitialBackoff, c.Retry.InitialBackoff, time.Millisecond, false)
	v.duration(jobconf.KeyMaxBackoff, c.Retry.MaxBackoff, time.Millisecond, true)
	if c.Retry.MaxBackoff < c.Retry.InitialBackoff {
		v.fault(jobconf.KeyMaxBackoff, c.Retry.MaxBackoff.String(), "not less than %s, %v, is allowed", jobconf.KeyInitialBackoff, c.Retry.InitialBackoff)
	}
	v.between(jobconf.KeyRetryAttempts, c.Retry.Attempts, MaxRetryAttempts)
	v.between(jobconf.KeyMaxItems, c.MaxItems, MaxShardingTotalCount)
	v.broadcast(c)
	v.between(jobconf.KeyThreads, c.Threads, MaxThreads)
	v.between(jobconf.KeyRevision, c.Revision, MaxRevision)

	v.listeners(c.Listeners)
	v.props(c.Props)
	v.name(jobconf.KeyLabel, c.Label)
	if strings.Contains(c.Label, ",") || strings.TrimSpace(c.Label) != c.Label {
		v.fault(jobconf.KeyLabel, brief.Quote(c.Label), "one label without commas, and without spaces around it, is allowed")
	}
}

func (v *validator) fault(field, value, format string, args ...any) {
	v.add(&FieldError{Field: field, Value: value, Err: fmt.Errorf(format, args...)})
}

func (v *validator) add(fault *FieldError) {
	if !v.seen[fault.Field] {
		v.seen[fault.Field] = true
		v.faults = append(v.faults, fault)
	}
}

// size checks that the document of the configuration can be written, and is not too large.
func (v *validator) size(c Config) {
	if c.isSmall() {
		return
	}
	text, err := document{}.write(c)
	if err == nil {
		err = jobconf.CheckSize(len(text))
	}
	if err != nil {
		v.add(&FieldError{Field: jobconf.KeyConfig, Err: err})
	}
}

// isSmall reports whether the document can certainly be written and is not too large, however
// its texts are written. To write it costs much more.
func (c *Config) isSmall() bool {
	// A byte takes up to ten, if it is escaped in a text that is broken into lines. Beside
	// its key and its text, a value takes a few bytes.
	const escaped, more = 10, 20
	size, isText := 0, true
	add := func(texts ...string) {
		for _, text := range texts {
			size += len(text)*escaped + more
			isText = isText && utf8.ValidString(text) // the encoder fails otherwise
		}
	}
	for _, list := range [][]field{fields, propFields} {
		for _, f := range list {
			add(f.key, f.get(c))
		}
	}
	add(c.Listeners...)
	for key, value := range c.Props {
		add(key, value)
	}
	return isText && size < MaxConfigSize
}

// cronFault adds a fault of the time zone, of the cron expression, or of both. Their errors
// show the value.
func (v *validator) cronFault(c Config, err error) {
	field := jobconf.KeyCron
	if _, zoneErr := cronexpr.LoadLocation(c.TimeZone); zoneErr != nil {
		field = jobconf.KeyTimeZone
	}
	v.add(&FieldError{Field: field, Err: err})
	if field == jobconf.KeyTimeZone && c.Cron != "" {
		if _, err := cronexpr.Parse(c.Cron, time.UTC); err != nil {
			v.add(&FieldError{Field: jobconf.KeyCron, Err: err})
		}
	}
}

// expiry checks when the job ends.
func (v *validator) expiry(c Config) {
	e := c.Expiry
	if at := e.At; !at.Equal(at.Truncate(time.Second)) || !at.IsZero() && (at.Year() < 1970 || at.Year() > 9999) {
		v.fault(jobconf.KeyExpiresAt, brief.Quote(at.Format(time.RFC3339Nano)), "a whole second of the years 1970 to 9999 is allowed")
	}
	v.between(jobconf.KeyExpiryTicks, e.Ticks, MaxExpiryTicks)
	if e.Ticks > 0 && c.Cron == "" {
		v.fault(jobconf.KeyExpiryTicks, strconv.Itoa(e.Ticks), "needs %s", jobconf.KeyCron)
	}
	switch {
	case e.Remove && c.MonitorExecution == Off:
		v.fault(jobconf.KeyRemoveExpired, "true", "needs %s, whose records tell that nothing runs", jobconf.KeyMonitorExecution)
	case e.Remove && c.Cron == "" && e.At.IsZero():
		v.fault(jobconf.KeyRemoveExpired, "true", "needs %s in a one-off job", jobconf.KeyExpiresAt)
	}
}

// broadcast checks what cannot be together with it.
func (v *validator) broadcast(c Config) {
	if !c.Broadcast {
		return
	}
	const why = "not allowed with %s, where each instance has one item of its own"
	if c.Failover {
		v.fault(jobconf.KeyFailover, "true", why, jobconf.KeyBroadcast)
	}
	if c.StaticSharding {
		v.fault(jobconf.KeyStaticSharding, "true", why, jobconf.KeyBroadcast)
	}
	if c.MaxItems != 0 {
		v.fault(jobconf.KeyMaxItems, strconv.Itoa(c.MaxItems), why, jobconf.KeyBroadcast)
	}
}

// moreCrons checks the further expressions.
func (v *validator) moreCrons(c Config) {
	switch {
	case len(c.MoreCrons) == 0:
	case c.Cron == "":
		v.fault(jobconf.KeyMoreCrons, brief.Quote(strings.Join(c.MoreCrons, "\n")), "needs %s", jobconf.KeyCron)
	case len(c.MoreCrons) > maxMoreCrons:
		v.fault(jobconf.KeyMoreCrons, strconv.Itoa(len(c.MoreCrons))+" lines", "at most %d are allowed", maxMoreCrons)
	default:
		for _, expr := range c.MoreCrons {
			if len(expr) > maxCronLength {
				v.fault(jobconf.KeyMoreCrons, brief.Quote(expr), "%d bytes, at most %d are allowed", len(expr), maxCronLength)
			} else if strings.ContainsAny(expr, "\r\n") {
				v.fault(jobconf.KeyMoreCrons, brief.Quote(expr), "one line for each expression is allowed")
			} else if _, err := cronexpr.Parse(expr, time.UTC); err != nil {
				v.add(&FieldError{Field: jobconf.KeyMoreCrons, Err: err})
			}
		}
	}
}

// calendars checks the names of calendars. Whether they exist is seen when the job runs.
func (v *validator) calendars(c Config) {
	switch shown := brief.Quote(strings.Join(c.Calendars, ",")); {
	case len(c.Calendars) == 0:
	case c.Cron == "":
		v.fault(jobconf.KeyCalendars, shown, "needs %s", jobconf.KeyCron)
	case len(c.Calendars) > maxCalendars:
		v.fault(jobconf.KeyCalendars, strconv.Itoa(len(c.Calendars))+" names", "at most %d are allowed", maxCalendars)
	default:
		for n, name := range c.Calendars {
			if !jobtree.IsName(name) {
				v.fault(jobconf.KeyCalendars, brief.Quote(name), "names with characters as in %s are allowed", jobconf.KeyName)
			} else if slices.Contains(c.Calendars[:n], name) {
				v.fault(jobconf.KeyCalendars, brief.Quote(name), "is there twice; once is allowed")
			}
		}
	}
}

func (v *validator) parameters(c Config) {
	parameters, err := ParseItemParameters(c.ShardingItemParameters)
	if err != nil {
		v.add(&FieldError{Field: jobconf.KeyItemParameters, Err: err})
		return
	}
	v.utf8(jobconf.KeyItemParameters, c.ShardingItemParameters)
	if c.ShardingTotalCount < 1 {
		return // the total has a fault of its own
	}
	for item := range parameters {
		if item >= c.ShardingTotalCount {
			v.fault(jobconf.KeyItemParameters, brief.Quote(c.ShardingItemParameters), "item %d: 0 to %d are allowed, because %s is %d",
				slices.Max(slices.Collect(maps.Keys(parameters))), c.ShardingTotalCount-1, jobconf.KeyTotal, c.ShardingTotalCount)
			return
		}
	}
}

func (v *validator) utf8(field, value string) {
	if !utf8.ValidString(value) {
		v.fault(field, brief.Quote(value), "only UTF-8 is allowed")
	}
}

// name checks a name that stands for something in each process. It may be empty.
func (v *validator) name(field, value string) {
	if value == "" {
		return
	}
	if err := jobconf.CheckText(value, jobconf.MaxText); err != nil {
		v.add(&FieldError{Field: field, Value: brief.Quote(value), Err: err})
	}
}

func (v *validator) toggle(field string, t Toggle) {
	if t != On && t != Off {
		v.fault(field, strconv.Itoa(int(t)), "On, Off, or nothing for the default are allowed")
	}
}

// duration checks a duration that is written in whole units. Zero and below means off, which
// is not allowed if it is needed.
func (v *validator) duration(field string, d, unit time.Duration, needed bool) {
	switch {
	case d <= 0 && !needed:
	case d < unit || d%unit != 0 || d/unit > math.MaxInt32:
		v.fault(field, d.String(), "a whole number of times %v, 1 to %d, is allowed", unit, mostUnits(unit))
	}
}

// bound checks a duration of which 0 is none, and which is never negative.
func (v *validator) bound(field string, d, unit time.Duration) {
	if d < 0 {
		v.fault(field, d.String(), "0, for none, and more are allowed")
	}
	v.duration(field, d, unit, false)
}

// mostUnits returns how many units a duration may have, so that they fit an int of a JVM
// and a time.Duration.
func mostUnits(unit time.Duration) int64 {
	return min(math.MaxInt32, math.MaxInt64/int64(unit))
}

func (v *validator) between(field string, value, most int) {
	if value < 0 || value > most {
		v.fault(field, strconv.Itoa(value), "0 to %d are allowed", most)
	}
}

func (v *validator) listeners(names []string) {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if err := jobconf.CheckText(name, jobconf.MaxText); err != nil {
			v.add(&FieldError{Field: jobconf.KeyListeners, Value: brief.Quote(name), Err: err})
		} else if seen[name] {
			v.fault(jobconf.KeyListeners, brief.Quote(name), "is there twice; once is allowed")
		}
		seen[name] = true
	}
}

// props checks names and encoding. It shows no values, because they may be secret.
func (v *validator) props(props map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(props)) {
		field := jobconf.PropsPrefix + key
		switch {
		case key == "":
			v.fault(jobconf.PropsPrefix+`""`, "", "a property needs a name")
		case !utf8.ValidString(key) || !utf8.ValidString(props[key]):
			v.fault(jobconf.PropsPrefix+brief.Quote(key), "", "only UTF-8 is allowed")
		case isOwnProp(field):
			v.fault(field, "", "belongs to a field of the configuration; set that one")
		}
	}
}

const (
	maxMoreCrons  = 100
	maxCalendars  = 20
	maxCronLength = 4 << 10 // more than an expression that lists all values of all fields
)

// checkCron checks the zone and the first expression.
func (c Config) checkCron() error {
	c.MoreCrons = nil
	_, err := c.Ticks()
	return err
}

// Ticks returns the schedule of the job, with the ticks that Calendars leave out, and with those
// after its [Expiry]; nil for a one-off job, of which it checks the time zone only.
func (c Config) Ticks() (cronexpr.Union, error) {
	zone, err := cronexpr.LoadLocation(c.TimeZone)
	if err != nil || c.Cron == "" {
		return nil, err
	}
	var ticks cronexpr.Union
	for _, expr := range append([]string{c.Cron}, c.MoreCrons...) {
		s, err := cronexpr.Parse(expr, zone)
		if err != nil {
			return nil, err
		}
		ticks = append(ticks, s)
	}
	return ticks, nil
}
