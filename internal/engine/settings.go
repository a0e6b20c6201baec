package engine

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// settings is a configuration that is in force, with the strategy and the error handlers
// that its names stand for in this process.
type settings struct {
	Config
	rules    decide.Rules   // the part that decisions need
	ticks    cronexpr.Union // those of Cron and MoreCrons; nil in a one-off job
	modified int64          // Modified of the document in the registry

	threads    int
	zone       *time.Location
	parameters map[int]string
	properties Properties
	strategy   strategy.Strategy
	errors     *exec.ErrorHandlers
	handler    Handler
	listeners  []*exec.Listener // of each execution
	once       []*exec.Listener // of whole ticks
}

// newSettings checks a configuration and looks its names up.
func newSettings(c Config, o *Options, modified int64) (*settings, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	s := &settings{Config: c, modified: modified, threads: c.Threads, properties: jobtype.NewProperties(c.Props)}
	if s.threads == 0 {
		s.threads = 2 * runtime.NumCPU()
	}
	var err error
	if s.ticks, err = c.Ticks(); err != nil {
		return nil, err
	}
	s.rules = rulesOf(c, s.ticks)
	if s.zone, err = cronexpr.LoadLocation(c.TimeZone); err != nil {
		return nil, err
	}
	if s.parameters, err = jobtype.ParseItemParameters(c.ShardingItemParameters); err != nil {
		return nil, err
	}
	var faults []*FieldError
	if s.strategy, err = strategy.Lookup(c.Strategy, o.Strategies); err != nil {
		faults = append(faults, &FieldError{Field: "jobShardingStrategyType", Err: err})
	}
	var wrong []*FieldError
	s.errors, wrong = o.errorHandlersFor(c)
	faults = append(faults, wrong...)
	s.handler, s.rules.Streams, wrong = o.handlerFor(c)
	faults = append(faults, wrong...)
	s.listeners, s.once, wrong = o.listenersFor(c)
	faults = append(faults, wrong...)
	s.rules.Once = len(s.once) > 0
	s.rules.StartTime, s.rules.TickTime = onceTimes(s.once)
	if len(faults) > 0 {
		return nil, &ConfigError{Job: c.Name, Faults: faults}
	}
	return s, nil
}

// settle completes the options of a job that is started with a handler, and returns the settings
// for its configuration.
func (o *Options) settle(c Config, h Handler) (*settings, error) {
	if err := o.workOf(c, h); err != nil {
		return nil, err
	}
	o.thrown = newThrown(o.Logger)
	return newSettings(c, o, 0)
}

// rulesOf returns the part that decisions need of a configuration with its defaults. What its
// calendars say is not known yet.
func rulesOf(c Config, ticks cronexpr.Union) decide.Rules {
	r := decide.Rules{
		Name: c.Name, Total: c.ShardingTotalCount, Cron: strings.Join(append([]string{c.Cron}, c.MoreCrons...), "\n"), TimeZone: c.TimeZone,
		Monitor: c.MonitorExecution == On, Failover: c.Failover, Misfire: c.Misfire == On,
		Tolerance: c.MisfireTolerance, Window: c.MisfireWindow, Jitter: c.Jitter, MaxTimeDiff: c.MaxTimeDiff,
		StaticSharding: c.StaticSharding, Disabled: c.Disabled, Label: c.Label,
		MaxItems: c.MaxItems, SkipOverlap: c.Overlap == OverlapSkip, Broadcast: c.Broadcast,
		ExpiresAt: c.Expiry.At, ExpiryTicks: c.Expiry.Ticks, RemoveExpired: c.Expiry.Remove, Revision: c.Revision,
	}
	if ticks != nil {
		judgeBy(&r, ticks, c.Calendars, make([]*pool.Calendar, len(c.Calendars)))
	}
	return r
}

// follow returns the settings for a new configuration in the registry. It refuses one of
// another job, and one that turns a job with a schedule into a one-off job or back. (In
// ElasticJob such a change breaks the job, defect B-28.)
func (s *settings) follow(c Config, o *Options, modified int64) (*settings, error) {
	next, err := newSettings(c, o, modified)
	if err != nil {
		return nil, err
	}
	if next.Name != s.Name {
		return nil, &FieldError{Field: "jobName", Err: fmt.Errorf("%q in the configuration of job %q", next.Name, s.Name)}
	}
	if next.rules.IsOneOff() != s.rules.IsOneOff() {
		return nil, &FieldError{Field: "cron", Err: fmt.Errorf("%q: %w", next.Cron, ErrKindConflict)}
	}
	return next, nil
}
