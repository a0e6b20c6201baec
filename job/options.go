package job

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/slogzap"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Option is a setting of this process. It never enters the registry.
type Option func(*options) error

// Options returns an option that sets several: for a package that gives a program one thing.
func Options(several ...Option) Option {
	return func(o *options) error { return o.apply(several) }
}

// OptionsOnce is [Options] for what a program may give to a node, and by mistake again to a job of it:
// a job has the options of a key once. The key is what they are of: a pointer, say.
func OptionsOnce[K comparable](key K, several ...Option) Option {
	return func(o *options) error {
		if slices.Contains(o.given, any(key)) {
			return nil
		}
		o.given = append(o.given, key)
		return o.apply(several)
	}
}

type options struct {
	logger         *zap.Logger
	slog           *slog.Logger // the same logger, for handlers
	observers      []Observer
	scopes         []Scope
	logHandlers    []LogHandler
	given          []any                // the keys of OptionsOnce
	now            func() time.Time     // the time of day
	moment         func() clocks.Moment // the monotonic clock
	ip             string
	labels         []string
	weight         int
	implementation string
	strategies     map[string]strategy.Strategy // nil if there are none
	thrown         *thrown                      // THROW of the job; nil in those that jobs share
	errorHandlers  map[string]ErrorHandlerType  // those that were given; nil if there are none
	types          map[string]Type              // nil if there are none
	listeners      map[string]*exec.Listener    // nil if there are none
	listenerTime   time.Duration                // of one call of a Listener
	work           Type                         // what does the work of the job: workOf
	isTyped        bool                         // the work is that of a type
	precedence     Precedence
	startRetry     bool
	joinOnly       bool // the configuration is the registry's: it is not created, and not replaced
	cancelGrace    time.Duration
	lead           time.Duration // how long before its tick an item is claimed
	// linger is how long a run that has ended waits for the other runs of its claim, so that
	// one commit removes all their records.
	linger time.Duration
}

// newOptions returns the options of a job that shares none.
func newOptions(opts []Option) (*options, error) {
	o := defaultOptions()
	if err := o.apply(opts); err != nil {
		return nil, err
	}
	if o.ip == "" {
		o.ip = localIP()
	}
	return o, o.pairLoggers()
}

func defaultOptions() *options {
	return &options{
		now:          clocks.Wall,
		moment:       clocks.Now,
		cancelGrace:  time.Second,
		listenerTime: 10 * time.Second,
		linger:       10 * time.Millisecond,
	}
}

// with returns the options with more of them, which come later. It does not change o.
func (o *options) with(opts []Option) (*options, error) {
	c := *o
	c.observers, c.labels, c.scopes, c.logHandlers, c.given = slices.Clip(c.observers), slices.Clip(c.labels), slices.Clip(c.scopes), slices.Clip(c.logHandlers), slices.Clip(c.given)
	c.strategies, c.errorHandlers, c.types, c.listeners = maps.Clone(c.strategies), maps.Clone(c.errorHandlers), maps.Clone(c.types), maps.Clone(c.listeners)
	if err := c.apply(opts); err != nil {
		return nil, err
	}
	return &c, c.pairLoggers()
}

// apply sets options.
func (o *options) apply(opts []Option) error {
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("job: option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt(o))
	}
	return errors.Join(errs...)
}

// WithLogger sets the logger of the scheduler. Without it and WithSlog, or with nil, nothing
// is logged. As long as nothing changes, nothing is logged at info level.
func WithLogger(l *zap.Logger) Option {
	return func(o *options) error {
		o.logger = l
		return nil
	}
}

// WithSlog is WithLogger for programs that log with log/slog. Use one of the two.
func WithSlog(l *slog.Logger) Option {
	return func(o *options) error {
		o.slog = l
		return nil
	}
}

// pairLoggers sets the logger that was not given to one that writes to the other.
func (o *options) pairLoggers() error {
	switch {
	case o.logger != nil && o.slog != nil:
		return errors.New("job: WithLogger and WithSlog: one of them is allowed")
	case o.slog != nil:
		o.logger = slogzap.Zap(o.slog)
	case o.logger != nil:
		o.slog = slogzap.Slog(o.logger)
	default:
		o.logger, o.slog = zap.NewNop(), slog.New(slog.DiscardHandler)
	}
	return nil
}

// WithIP sets the address with which this process registers, and by which operators disable
// it. It may be any text of up to 255 bytes without a slash or "@-@", such as a host name if
// addresses are not stable. The default is the address by which other hosts most likely know
// this one.
func WithIP(ip string) Option {
	return func(o *options) error {
		if err := checkIP(ip); err != nil {
			return err
		}
		o.ip = ip
		return nil
	}
}

// maxLabels bounds the labels of an instance, because all instances of the job read them.
const maxLabels = 100

// WithLabels gives this instance labels: up to 100, of up to 255 bytes each, without commas,
// and without spaces around them. A job with a Config.Label gives items only to instances
// that have that label.
func WithLabels(labels ...string) Option {
	return func(o *options) error {
		if n := len(o.labels) + len(labels); n > maxLabels {
			return fmt.Errorf("job: %d labels, at most %d are allowed", n, maxLabels)
		}
		for _, label := range labels {
			if err := jobconf.CheckText(label, jobconf.MaxText); err != nil {
				return fmt.Errorf("job: label %s: %w", quote(label), err)
			}
			if strings.Contains(label, ",") || strings.TrimSpace(label) != label || strings.HasPrefix(label, "weight=") {
				return fmt.Errorf("job: label %s: a text without commas or spaces around it is allowed, that does not begin with weight= (see WithWeight)", quote(label))
			}
		}
		o.labels = append(o.labels, labels...)
		return nil
	}
}

// WithWeight sets how large the share of items of this instance is, compared with those of
// others, if the strategy is WEIGHTED. The default is 1.
func WithWeight(weight int) Option {
	return func(o *options) error {
		if weight < 1 || weight > strategy.MaxWeight {
			return fmt.Errorf("job: weight %d: 1 to %d are allowed", weight, strategy.MaxWeight)
		}
		o.weight = weight
		return nil
	}
}

// maxImplementationLength is large, because it may be the name of a Java class.
const maxImplementationLength = 1_000

// WithImplementation names the program that does the work of the job, in up to 1,000 bytes.
// The registry keeps the name and a scheduler with another one is refused, so two programs
// cannot run different work under the name of one job. The default is the job's name. For a
// job that JVM instances have run, give the name of their class.
func WithImplementation(name string) Option {
	return func(o *options) error {
		if err := jobconf.CheckText(name, maxImplementationLength); err != nil {
			return fmt.Errorf("job: implementation %s: %w", quote(name), err)
		}
		o.implementation = name
		return nil
	}
}

// WithStrategy gives a sharding strategy a name, for Config.Strategy. The name has up to 255
// bytes, and is not that of a built-in strategy. All instances of a job must give the same
// name to the same strategy.
func WithStrategy(name string, s strategy.Strategy) Option {
	return func(o *options) error {
		if err := jobconf.CheckText(name, jobconf.MaxText); err != nil {
			return fmt.Errorf("job: strategy %s: name: %w", quote(name), err)
		}
		if isNil(s) {
			return fmt.Errorf("job: strategy %s is nil", quote(name))
		}
		if _, err := strategy.Lookup(name, map[string]strategy.Strategy{name: s}); err != nil {
			return fmt.Errorf("job: %w", err)
		}
		put(&o.strategies, name, s)
		return nil
	}
}

func put[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = value
}

// WithErrorHandler gives an error handler a name, for Config.ErrorHandler. The name has up to
// 255 bytes, without commas. With the name LOG, IGNORE or THROW it replaces that one.
func WithErrorHandler(name string, h ErrorHandler) Option {
	return func(o *options) error {
		if err := checkErrorHandlerName(name); err != nil {
			return err
		}
		if isNil(h) {
			return fmt.Errorf("job: error handler %s is nil", quote(name))
		}
		put(&o.errorHandlers, name, ErrorHandlerType(sameErrorHandler{h}))
		return nil
	}
}

func checkErrorHandlerName(name string) error {
	if err := jobconf.CheckText(name, jobconf.MaxText); err != nil {
		return fmt.Errorf("job: error handler %s: name: %w", quote(name), err)
	}
	if strings.Contains(name, ",") || strings.TrimSpace(name) != name {
		return fmt.Errorf("job: error handler %s: a name without commas, and without spaces around it, is allowed", quote(name))
	}
	return nil
}

// WithClock sets the clock that decides which ticks are due. It is for tests of wrong
// clocks: timers use the real clock. The default is time.Now.
func WithClock(now func() time.Time) Option {
	return func(o *options) error {
		if now == nil {
			return errors.New("job: nil clock")
		}
		o.now = func() time.Time { return clocks.Stripped(now()) }
		return nil
	}
}

// WithCancelGrace sets how long Shutdown waits for handlers to return after it has ended
// their contexts. After that it hands their items over all the same. Default 1 s.
func WithCancelGrace(d time.Duration) Option {
	return func(o *options) error {
		if d < 0 {
			return fmt.Errorf("job: cancel grace %v: must not be negative", d)
		}
		o.cancelGrace = d
		return nil
	}
}

// maxLead bounds WithEarlyClaims.
const maxLead = 10 * time.Second

// WithEarlyClaims makes this process claim its items up to lead before their tick. The
// handlers still begin at the tick, but do not wait for the store then. That is for processes
// with so many jobs that claim at the same moment that the last of them begin late. Claims
// are early by no more than half of the time between two ticks. Default 0; at most 10 s.
//
// What it costs: an item counts as running while it is claimed. If the process ends without
// a shutdown between a claim and its tick, others run the item again, with failover on, and
// the tick is lost, with failover off. A shutdown gives such claims back. What is changed
// meanwhile (the item is disabled or moves, or the schedule is another) still counts. It does
// nothing with MonitorExecution off.
func WithEarlyClaims(lead time.Duration) Option {
	return func(o *options) error {
		if lead < 0 || lead > maxLead {
			return fmt.Errorf("job: early claims %v: allowed are 0, which means none, and up to %v", lead, maxLead)
		}
		o.lead = lead
		return nil
	}
}

// WithObserver adds an observer that is told what the scheduler does. It may be given
// several times; each observer is told at its own pace.
func WithObserver(o Observer) Option {
	return func(to *options) error {
		if o == nil {
			return errors.New("job: observer is nil")
		}
		to.observers = append(to.observers, o)
		return nil
	}
}
