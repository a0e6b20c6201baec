package setup

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/slogzap"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Options are the settings of a process for one job. They never enter the registry.
type Options struct {
	Logger         *zap.Logger
	Slog           *slog.Logger // the same logger, for handlers
	Observers      []jobtype.Observer
	Scopes         []jobtype.Scope
	Given          []any                // the keys of options that were given, of job.Options
	Now            func() time.Time     // the time of day
	Moment         func() clocks.Moment // the monotonic clock
	IP             string
	Labels         []string
	Weight         int
	Implementation string
	Strategies     map[string]strategy.Strategy        // nil if there are none
	Thrown         *thrown                             // THROW of the job; nil in those that jobs share
	ErrorHandlers  map[string]jobtype.ErrorHandlerType // those that were given; nil if there are none
	Listeners      map[string]*exec.Listener           // nil if there are none
	ListenerTime   time.Duration                       // of one call of a Listener
	work           jobtype.Type                        // what does the work of the job: workOf
	isTyped        bool                                // the work is that of a type
	StartRetry     bool
	StartFault     bool
	JoinOnly       bool // the configuration is the registry's: it is not created, and not replaced
	CancelGrace    time.Duration
	// Lead is how long before its tick an item is claimed. If it is nil, that goes by how long claims take.
	Lead *time.Duration
	// Linger is how long a run that has ended waits for the other runs of its claim, so that
	// one commit removes all their records.
	Linger time.Duration
}

// DefaultOptions returns the options of a process that has set none.
func DefaultOptions() *Options {
	return &Options{
		Now:          clocks.Wall,
		Moment:       clocks.Now,
		CancelGrace:  time.Second,
		ListenerTime: 10 * time.Second,
		Linger:       10 * time.Millisecond,
	}
}

// Clock returns the option of a clock that decides which ticks are due, for tests of wrong clocks:
// timers use the real clock. It is an option of package job.
func Clock(now func() time.Time) func(*Options) error {
	return func(o *Options) error {
		o.Now = func() time.Time { return clocks.Stripped(now()) }
		return nil
	}
}

// Clone returns a copy, which may be changed.
func (o *Options) Clone() *Options {
	c := *o
	c.Observers, c.Labels, c.Scopes, c.Given = slices.Clip(c.Observers), slices.Clip(c.Labels), slices.Clip(c.Scopes), slices.Clip(c.Given)
	c.Strategies, c.ErrorHandlers, c.Listeners = maps.Clone(c.Strategies), maps.Clone(c.ErrorHandlers), maps.Clone(c.Listeners)
	return &c
}

// PairLoggers sets the logger that was not given to one that writes to the other.
func (o *Options) PairLoggers() error {
	switch {
	case o.Logger != nil && o.Slog != nil:
		return errors.New("job: WithLogger and WithSlog: one of them is allowed")
	case o.Slog != nil:
		o.Logger = slogzap.Zap(o.Slog)
	case o.Logger != nil:
		o.Slog = slogzap.Slog(o.Logger)
	default:
		o.Logger, o.Slog = zap.NewNop(), slog.New(slog.DiscardHandler)
	}
	return nil
}
