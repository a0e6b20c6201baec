package job

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/engine/instance"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Option is a setting of this process. It never enters the registry.
type Option func(*setup.Options) error

// Options returns an option that sets several: for a package that gives a program one thing. A job
// has the options of a key once, however often a program gives them to it and to its node. The key is
// what they are of: a pointer, say. Options of the key nil are set each time.
func Options(key any, several ...Option) Option {
	return func(o *setup.Options) error {
		if key != nil {
			if !reflect.ValueOf(key).Comparable() {
				return fmt.Errorf("job: options: a key of type %T cannot be compared; a pointer is allowed, say", key)
			}
			if slices.Contains(o.Given, key) {
				return nil
			}
			o.Given = append(o.Given, key)
		}
		return apply(o, several)
	}
}

// WithLogger sets the logger of the scheduler. Without it and WithSlog, or with nil, nothing
// is logged. As long as nothing changes, nothing is logged at info level.
func WithLogger(l *zap.Logger) Option {
	return func(o *setup.Options) error {
		o.Logger = l
		return nil
	}
}

// WithSlog is WithLogger for programs that log with log/slog. Use one of the two.
func WithSlog(l *slog.Logger) Option {
	return func(o *setup.Options) error {
		o.Slog = l
		return nil
	}
}

// WithIP sets the address with which this process registers, and by which operators disable
// it. It may be any text of 1 to 255 bytes without a slash or "@-@", such as a host name if
// addresses are not stable. The default is the address by which other hosts most likely know
// this one.
func WithIP(ip string) Option {
	return func(o *setup.Options) error {
		if err := instance.CheckIP(ip); err != nil {
			return err
		}
		o.IP = ip
		return nil
	}
}

// maxLabels bounds the labels of an instance, because all instances of the job read them.
const maxLabels = 100

// WithLabels gives this instance labels: up to 100, of up to 255 bytes each, without commas,
// and without spaces around them. A job with a Config.Label gives items only to instances
// that have that label.
func WithLabels(labels ...string) Option {
	return func(o *setup.Options) error {
		if n := len(o.Labels) + len(labels); n > maxLabels {
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
		o.Labels = append(o.Labels, labels...)
		return nil
	}
}

// WithWeight sets how large the share of items of this instance is, compared with those of
// others, if the strategy is WEIGHTED. The default is 1.
func WithWeight(weight int) Option {
	return func(o *setup.Options) error {
		if weight < 1 || weight > strategy.MaxWeight {
			return fmt.Errorf("job: weight %d: 1 to %d are allowed", weight, strategy.MaxWeight)
		}
		o.Weight = weight
		return nil
	}
}

// maxImplementationLength is large, because it may be the name of a Java class.
const maxImplementationLength = 1_000

// WithImplementation names the program that does the work of the job, in up to 1,000 bytes.
// The registry keeps the name and a scheduler with another one is refused, so two programs
// cannot run different work under the name of one job. The default is the job's name. For a
// job that JVM instances have run, give the name of their class. Without it two programs with one job name, by
// mistake, share its items: this package sees only that their configurations differ.
func WithImplementation(name string) Option {
	return func(o *setup.Options) error {
		if err := jobconf.CheckText(name, maxImplementationLength); err != nil {
			return fmt.Errorf("job: implementation %s: %w", quote(name), err)
		}
		o.Implementation = name
		return nil
	}
}

// WithStrategy gives a sharding strategy a name, for Config.Strategy. The name has up to 255
// bytes, and is not that of a built-in strategy. All instances of a job must give the same
// name to the same strategy.
func WithStrategy(name string, s strategy.Strategy) Option {
	return func(o *setup.Options) error {
		if err := jobconf.CheckText(name, jobconf.MaxText); err != nil {
			return fmt.Errorf("job: strategy %s: name: %w", quote(name), err)
		}
		if setup.IsNil(s) {
			return fmt.Errorf("job: strategy %s is nil", quote(name))
		}
		if _, err := strategy.Lookup(name, map[string]strategy.Strategy{name: s}); err != nil {
			return fmt.Errorf("job: %w", err)
		}
		put(&o.Strategies, name, s)
		return nil
	}
}

// WithErrorHandler gives an error handler a name, for Config.ErrorHandler: a function
// ([ErrorHandlerFunc]), or a type such as those of package alert, which has its settings in
// Config.Props. The name has up to 255 bytes, without commas. With the name LOG, IGNORE or THROW it
// replaces that one. Of two with the same name the last one counts.
func WithErrorHandler(name string, t ErrorHandlerType) Option {
	return func(o *setup.Options) error {
		if err := jobconf.CheckText(name, jobconf.MaxText); err != nil {
			return fmt.Errorf("job: error handler %s: name: %w", quote(name), err)
		}
		if strings.Contains(name, ",") || strings.TrimSpace(name) != name {
			return fmt.Errorf("job: error handler %s: a name without commas, and without spaces around it, is allowed", quote(name))
		}
		if setup.IsNil(t) {
			return fmt.Errorf("job: error handler %s is nil", quote(name))
		}
		put(&o.ErrorHandlers, name, t)
		return nil
	}
}

// WithCancelGrace sets how long Shutdown waits for handlers to return after it has ended
// their contexts. After that it hands their items over all the same. Default 1 s.
func WithCancelGrace(d time.Duration) Option {
	return func(o *setup.Options) error {
		if d < 0 {
			return fmt.Errorf("job: cancel grace %v: must not be negative", d)
		}
		o.CancelGrace = d
		return nil
	}
}

// maxLead bounds WithEarlyClaims.
const maxLead = 10 * time.Second

// WithEarlyClaims makes this process claim its items up to lead before their tick, 10 s at most; 0 is at the tick. The
// handlers still begin at the tick, but do not wait for the store then. Claims are early by no more than half of the time
// between two ticks, but for those in the commit that ends the item's run before, which saves a commit.
//
// Without this option the lead adapts to how long the claims of a job take: it is 50 ms, 200 ms or 1 s, at least twice as
// long, and 1 s for claims in the commit that ends a run. It is 0 where a claim takes less than 10 ms, as it does until
// many jobs claim at the same moment, and beside JVM members.
//
// What it costs: an item counts as running while it is claimed. If the process ends without
// a shutdown between a claim and its tick, others run the item again, with failover on, and
// the tick is lost, with failover off. A shutdown gives such claims back. What is changed
// meanwhile (the item is disabled or moves, or the schedule is another) still counts. It does
// nothing with MonitorExecution off.
func WithEarlyClaims(lead time.Duration) Option {
	return func(o *setup.Options) error {
		if lead < 0 || lead > maxLead {
			return fmt.Errorf("job: early claims %v: allowed are 0, which means none, and up to %v", lead, maxLead)
		}
		o.Lead = &lead
		return nil
	}
}

// WithObserver adds an observer that is told what the scheduler does. It may be given
// several times; each observer is told at its own pace.
func WithObserver(o Observer) Option {
	return func(to *setup.Options) error {
		if o == nil {
			return errors.New("job: observer is nil")
		}
		to.Observers = append(to.Observers, o)
		return nil
	}
}

// newOptions returns the options of a job that shares none.
func newOptions(opts []Option) (*setup.Options, error) {
	o, err := optionsWith(setup.DefaultOptions(), opts)
	if err == nil && o.IP == "" {
		o.IP = instance.LocalIP()
	}
	return o, err
}

// optionsWith returns options with more of them, which come later.
func optionsWith(o *setup.Options, opts []Option) (*setup.Options, error) {
	c := o.Clone()
	if err := apply(c, opts); err != nil {
		return nil, err
	}
	return c, c.PairLoggers()
}

// apply sets options.
func apply(o *setup.Options, opts []Option) error {
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

func put[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = value
}

// WithStartRetry makes [Schedule] wait for a store that does not answer, until
// its context ends. It asks again after 50 ms, and then less and less often, up to
// every 2 s. The log has a warning when it begins to wait, and one every 10 s after that.
// Without this option, and for any other error, it returns the error at once. The option
// does not help to dial the registry: if the store does not answer then, that fails.
func WithStartRetry() Option {
	return func(o *setup.Options) error {
		o.StartRetry = true
		return nil
	}
}

// WithStartFault makes a job that does not start a fault of its [Node], of the kind
// [jobtype.FaultConfig], until it does start. [Node.Schedule] returns the error nevertheless: the
// program may log it, and serve its other jobs. One that an operator has removed, say, need not
// keep them from running.
func WithStartFault() Option {
	return func(o *setup.Options) error {
		o.StartFault = true
		return nil
	}
}

// WithNetwork sets the network, such as "10.0.0.0/8", whose address this process registers
// with, if the host has addresses in several networks. See [WithIP] to set the address
// itself.
func WithNetwork(network string) Option {
	return func(o *setup.Options) (err error) {
		o.IP, err = instance.AddressIn(network)
		return err
	}
}
