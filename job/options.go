package job

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/slogzap"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Names of the error handlers that every scheduler knows (Config.ErrorHandler).
const (
	// ErrorHandlerLog writes a line at error level; the default.
	ErrorHandlerLog = "LOG"
	// ErrorHandlerIgnore does nothing, and keeps LOG from being told.
	ErrorHandlerIgnore = "IGNORE"
)

// Option is what belongs to a process and never enters the registry.
type Option func(*options) error

type options struct {
	logger         *zap.Logger
	slog           *slog.Logger // the same, for handlers
	observers      []Observer
	now            func() time.Time
	ip             string
	labels         []string
	weight         int
	implementation string
	strategies     map[string]strategy.Strategy
	errorHandlers  map[string]ErrorHandler
	precedence     Precedence
	startRetry     bool
	cancelGrace    time.Duration
	// linger is how long the record of a run that is done waits for the other runs of
	// its claim, so that their records go in one commit.
	linger time.Duration
}

func newOptions(opts []Option) (*options, error) {
	o := &options{
		now:           time.Now,
		strategies:    map[string]strategy.Strategy{},
		errorHandlers: map[string]ErrorHandler{},
		cancelGrace:   time.Second,
		linger:        10 * time.Millisecond,
	}
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("job: option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt(o))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if o.ip == "" {
		o.ip = localIP()
	}
	if err := o.joinLoggers(); err != nil {
		return nil, err
	}
	if o.errorHandlers[ErrorHandlerLog] == nil {
		o.errorHandlers[ErrorHandlerLog] = logErrors(o.logger)
	}
	if o.errorHandlers[ErrorHandlerIgnore] == nil {
		o.errorHandlers[ErrorHandlerIgnore] = ignoreErrors()
	}
	return o, nil
}

// WithLogger sets where the scheduler logs; without it and WithSlog, or with nil, nothing
// is logged. In steady state nothing is logged at info level.
func WithLogger(l *zap.Logger) Option {
	return func(o *options) error {
		o.logger = l
		return nil
	}
}

// WithSlog is WithLogger for programs that log with log/slog. Only one of both is allowed.
func WithSlog(l *slog.Logger) Option {
	return func(o *options) error {
		o.slog = l
		return nil
	}
}

// joinLoggers makes each of the two loggers of the one that was given.
func (o *options) joinLoggers() error {
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

// WithIP sets the address under which this process registers, and by which an
// operator disables it, instead of the first one that the host has. Any text of up to
// 255 bytes without a slash will do: a host name, say, where addresses are not stable.
func WithIP(ip string) Option {
	return func(o *options) error {
		if err := validateIP(ip); err != nil {
			return err
		}
		o.ip = ip
		return nil
	}
}

// maxLabels bounds the labels of an instance, which everybody in the job reads.
const maxLabels = 100

// WithLabels sets the labels that this instance announces: up to 100, of up to 255 bytes
// each, without commas. A job whose Config.Label is set gives items only to instances
// that have it.
func WithLabels(labels ...string) Option {
	return func(o *options) error {
		if n := len(o.labels) + len(labels); n > maxLabels {
			return fmt.Errorf("job: %d labels, at most %d are allowed", n, maxLabels)
		}
		for _, label := range labels {
			if err := validText(label, maxTextLength); err != nil {
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

// WithWeight announces how much of the items this instance wants, relative to the
// others, where the strategy is WEIGHTED. The default is 1.
func WithWeight(weight int) Option {
	return func(o *options) error {
		if weight < 1 || weight > strategy.MaxWeight {
			return fmt.Errorf("job: weight %d: 1 to %d are allowed", weight, strategy.MaxWeight)
		}
		o.weight = weight
		return nil
	}
}

// maxImplementationLength bounds what is compared at each start. The name of a class
// may be long.
const maxImplementationLength = 1_000

// WithImplementation names what runs the job, in up to 1,000 bytes. The registry keeps
// the name, and a scheduler with another one is refused, so that two programs do not run
// different work under one job name. The default is the job's name. To share a job with
// JVM instances give the name of their class.
func WithImplementation(name string) Option {
	return func(o *options) error {
		if err := validText(name, maxImplementationLength); err != nil {
			return fmt.Errorf("job: implementation %s: %w", quote(name), err)
		}
		o.implementation = name
		return nil
	}
}

// WithStrategy makes a sharding strategy known by name (Config.Strategy). The name has
// up to 255 bytes and is not that of a built-in one. All instances of a job need the
// same ones.
func WithStrategy(name string, s strategy.Strategy) Option {
	return func(o *options) error {
		if err := validText(name, maxTextLength); err != nil {
			return fmt.Errorf("job: strategy %s: name: %w", quote(name), err)
		}
		if isNil(s) {
			return fmt.Errorf("job: strategy %s is nil", quote(name))
		}
		if _, err := strategy.Lookup(name, map[string]strategy.Strategy{name: s}); err != nil {
			return fmt.Errorf("job: %w", err)
		}
		o.strategies[name] = s
		return nil
	}
}

// WithErrorHandler makes an error handler known by name (Config.ErrorHandler), also in
// place of LOG or IGNORE. The name has up to 255 bytes, without commas. LOG is told as
// well, unless the job's list of error handlers names IGNORE.
func WithErrorHandler(name string, h ErrorHandler) Option {
	return func(o *options) error {
		if err := validText(name, maxTextLength); err != nil {
			return fmt.Errorf("job: error handler %s: name: %w", quote(name), err)
		}
		if strings.Contains(name, ",") || strings.TrimSpace(name) != name {
			return fmt.Errorf("job: error handler %s: a name without commas, and without spaces around it, is allowed", quote(name))
		}
		if isNil(h) {
			return fmt.Errorf("job: error handler %s is nil", quote(name))
		}
		o.errorHandlers[name] = h
		return nil
	}
}

// WithClock replaces time.Now as the wall clock that ticks are compared with. It is
// for tests of what a wrong clock does; timers run on the real one.
func WithClock(now func() time.Time) Option {
	return func(o *options) error {
		if now == nil {
			return errors.New("job: nil clock")
		}
		o.now = now
		return nil
	}
}

// WithCancelGrace sets how long Shutdown waits for handlers to return after their
// contexts were ended, before it hands their items over regardless. Default 1 s.
func WithCancelGrace(d time.Duration) Option {
	return func(o *options) error {
		if d < 0 {
			return fmt.Errorf("job: cancel grace %v: must not be negative", d)
		}
		o.cancelGrace = d
		return nil
	}
}
