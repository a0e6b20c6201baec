package alert

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Options are what a process gives to error handlers. The zero value will do.
type Options struct {
	// Allow is what jobs may refer to, and where their messages may go. Default: everything. A
	// [Kind] gets what the job of the sender may use.
	Allow *allow.List
	// Lookup looks up references in properties, for all jobs. Default: what the process has and
	// Allow allows.
	Lookup property.Lookup
	// TLS are the configurations that the properties *.tls may name.
	TLS map[string]*tls.Config
	// Host is the name of this machine in messages. Default os.Hostname().
	Host string
	// Parallel is how many messages are sent at the same time, over all jobs that have the same
	// type value. Others wait, so many jobs that fail together open few connections. Default 8.
	Parallel int
	// Counts counts what is sent, for metrics. Several types may share one. Default: nobody is told.
	Counts *Counts
}

// defaultParallel is the default of Options.Parallel.
const defaultParallel = 8

// Sender sends the messages of one job. It is called by one goroutine at a time.
type Sender interface {
	// Send sends a message. It returns soon after ctx has ended. A failed message is sent again
	// after a while, unless the error says otherwise; see [Permanent] and [RetryAfter]. The
	// error goes to the log, so it must show no secrets.
	Send(ctx context.Context, m Message) error
}

// SenderFunc makes a Sender of a function.
type SenderFunc func(ctx context.Context, m Message) error

// Send calls f.
func (f SenderFunc) Send(ctx context.Context, m Message) error { return f(ctx, m) }

// Kind is a kind of senders, for [NewType].
type Kind struct {
	// Name is for the log: "WECHAT".
	Name string
	// Table lists the properties of the kind, without those of all kinds (alert.*).
	Table property.Table
	// Sender makes a sender by the properties in the table. o has its defaults, and log is the
	// job's. Sender must have no effect. An error refuses the configuration, as that of
	// [job.Type] does.
	Sender func(v property.Values, o Options, log *slog.Logger) (Sender, error)
}

// NewType returns a type of error handlers that sends messages by a kind of senders, with the
// rules, the aggregation, and the retries of this package.
func NewType(k Kind, o Options) job.ErrorHandlerType {
	if o.Host == "" {
		o.Host, _ = os.Hostname() // a message without it is better than none
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.Counts == nil {
		o.Counts = new(Counts)
	}
	return errorHandlerType{k, o, make(chan struct{}, o.Parallel)}
}

type errorHandlerType struct {
	kind    Kind
	options Options
	sending chan struct{} // has an element for each message that is being sent
}

// ErrorHandler checks the properties of the job.
func (t errorHandlerType) ErrorHandler(c job.Config, log *slog.Logger) (job.ErrorHandler, error) {
	table := t.kind.Table
	table.Own = append([]string{"alert."}, table.Own...)
	table.Rows = slices.Concat(commonRows(), table.Rows)
	v, err := table.Read(job.NewProperties(c.Props))
	if err != nil {
		return nil, err
	}
	o := t.options
	o.Allow = o.Allow.For(c.Name)
	if o.Lookup == nil {
		o.Lookup = o.Allow.Lookup()
	}
	if err := checkReferences(table, c.Props, o.Lookup); err != nil {
		return nil, err
	}
	log = log.With(slog.String("job", c.Name), slog.String("handler", t.kind.Name))
	sender, err := t.kind.Sender(v, o, log)
	if err != nil {
		return nil, err
	}
	by, err := deadlineOf(v.Text(propBy), c)
	if err != nil {
		return nil, err
	}
	return &handler{
		job: c.Name, host: o.Host, sender: sender, sending: t.sending, attempts: v.Integer(propAttempts), log: log, counts: o.Counts,
		waits: aggregate{rules: rules{
			window: v.Duration(propWindow), after: v.Integer(propAfter),
			queue: v.Integer(propQueue), recovery: v.Boolean(propRecovery),
		}, standing: standing{
			missed: v.Boolean(propMissed), faults: v.Boolean(propFaults), by: by, missedAfter: missedAfter + max(c.Jitter, 0),
		}},
	}, nil
}

// deadlineOf returns the deadline of alert.by, for a job whose records tell whether it is done.
func deadlineOf(text string, c job.Config) (deadline, error) {
	by, isSet := parseDeadline(text)
	why := "the job has no cron, so no tick is to be done"
	switch {
	case !isSet || c.Cron != "" && c.MonitorExecution != jobtype.Off:
		return by, nil
	case c.Cron != "":
		why = "the job has monitorExecution off, so nobody knows what is done"
	}
	return deadline{}, fault(propBy, errors.New(why))
}

// checkReferences looks references up. So a secret that this process lacks is found now, and
// not when something has failed already and nobody is told.
func checkReferences(table property.Table, props map[string]string, lookup property.Lookup) error {
	var faults []*job.FieldError
	for _, name := range slices.Sorted(maps.Keys(props)) {
		isOurs := slices.ContainsFunc(table.Own, func(own string) bool { return strings.HasPrefix(name, own) })
		if !isOurs || !property.HasReference(props[name]) {
			continue
		}
		if _, err := property.Expand(props[name], lookup); err != nil {
			faults = append(faults, &job.FieldError{Field: "props: " + name, Err: err})
		}
	}
	if faults == nil {
		return nil
	}
	return &job.ConfigError{Faults: faults}
}

// The properties of all kinds.
const (
	propAfter    = "alert.after"
	propRecovery = "alert.recovery"
	propWindow   = "alert.window"
	propQueue    = "alert.queue"
	propAttempts = "alert.attempts"
	propMissed   = "alert.missed"
	propFaults   = "alert.faults"
	propBy       = "alert.by"
)

func commonRows() []property.Row {
	return []property.Row{
		{Name: propAfter, Default: "1", Check: property.Integer(1, 1000), Meaning: "a failure counts from so many failures of the item in a row on"},
		{Name: propRecovery, Default: "false", Check: property.Boolean(), Meaning: "whether a message tells that an item works again, or that something is over"},
		{Name: propWindow, Default: "1m", Check: property.Duration(time.Second, 24*time.Hour), Meaning: "the time between two messages with the same error"},
		{Name: propQueue, Default: "10", Check: property.Integer(1, 100), Meaning: "how many errors have messages of their own"},
		{Name: propAttempts, Default: "10", Check: property.Integer(1, 100), Meaning: "how often a message is tried"},
		{Name: propMissed, Default: "true", Check: property.Boolean(), Meaning: "whether a message tells of ticks that no item has begun in three minutes"},
		{Name: propFaults, Default: "true", Check: property.Boolean(), Meaning: "whether a message tells of a fault that lasts for two minutes; starvation for 30 s"},
		{Name: propBy, Check: isDeadline(), Meaning: "how long after its tick, or by which time in the zone of the job, a tick is to be done"},
	}
}

// isDeadline allows what parseDeadline reads.
func isDeadline() property.Check {
	allowed := fmt.Sprintf("durations from %v to %v and times of day, such as 06:00, are", time.Minute, maxDeadline)
	return property.Check{Allowed: allowed, Accept: func(text string) error {
		if _, ok := parseDeadline(text); !ok {
			return fmt.Errorf("%s: %s allowed", brief.Quote(text), allowed)
		}
		return nil
	}}
}
