package setup

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Settings is a configuration that is in force, with the strategy and the error handlers
// that its names stand for in this process.
type Settings struct {
	jobtype.Config
	Rules    decide.Rules   // the part that decisions need
	Ticks    cronexpr.Union // those of Cron and MoreCrons; nil in a one-off job
	Modified int64          // Modified of the document in the registry

	ThreadCount   int
	Zone          *time.Location
	Parameters    map[int]string
	Properties    jobtype.Properties
	Sharding      strategy.Strategy
	Errors        *exec.ErrorHandlers
	Handler       jobtype.Handler
	ItemListeners []*exec.Listener // of each execution
	OnceListeners []*exec.Listener // of whole ticks
}

// New checks a configuration and looks its names up.
func New(c jobtype.Config, o *Options, modified int64) (*Settings, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	s := &Settings{Config: c, Modified: modified, ThreadCount: c.Threads, Properties: jobtype.NewProperties(c.Props)}
	if s.ThreadCount == 0 {
		s.ThreadCount = 2 * runtime.NumCPU()
	}
	var err error
	if s.Ticks, err = c.Ticks(); err != nil {
		return nil, err
	}
	s.Rules = rulesOf(c, s.Ticks)
	if s.Zone, err = cronexpr.LoadLocation(c.TimeZone); err != nil {
		return nil, err
	}
	if s.Parameters, err = jobtype.ParseItemParameters(c.ShardingItemParameters); err != nil {
		return nil, err
	}
	var faults []*jobtype.FieldError
	if s.Sharding, err = strategy.Lookup(c.Strategy, o.Strategies); err != nil {
		faults = append(faults, &jobtype.FieldError{Field: "jobShardingStrategyType", Err: err})
	}
	var wrong []*jobtype.FieldError
	s.Errors, wrong = o.errorHandlersFor(c)
	faults = append(faults, wrong...)
	s.Handler, s.Rules.Streams, wrong = o.handlerFor(c)
	faults = append(faults, wrong...)
	s.ItemListeners, s.OnceListeners, wrong = o.listenersFor(c)
	faults = append(faults, wrong...)
	s.Rules.Once = len(s.OnceListeners) > 0
	s.Rules.StartTime, s.Rules.TickTime = onceTimes(s.OnceListeners)
	if len(faults) > 0 {
		return nil, &jobtype.ConfigError{Job: c.Name, Faults: faults}
	}
	return s, nil
}

// Prepare completes the options of a job that is started with a handler, and returns the settings
// for its configuration.
func (o *Options) Prepare(c jobtype.Config, h jobtype.Handler) (*Settings, error) {
	if err := o.workOf(c, h); err != nil {
		return nil, err
	}
	o.Thrown = newThrown(o.Logger)
	return New(c, o, 0)
}

// rulesOf returns the part that decisions need of a configuration with its defaults. What its
// calendars say is not known yet.
func rulesOf(c jobtype.Config, ticks cronexpr.Union) decide.Rules {
	r := decide.Rules{
		Name: c.Name, Total: c.ShardingTotalCount, Cron: strings.Join(append([]string{c.Cron}, c.MoreCrons...), "\n"), TimeZone: c.TimeZone,
		Monitor: c.MonitorExecution == jobtype.On, Failover: c.Failover, Misfire: c.Misfire == jobtype.On,
		Tolerance: c.MisfireTolerance, Window: c.MisfireWindow, Jitter: c.Jitter, MaxTimeDiff: c.MaxTimeDiff,
		StaticSharding: c.StaticSharding, Disabled: c.Disabled, Label: c.Label,
		MaxItems: c.MaxItems, SkipOverlap: c.Overlap == jobtype.OverlapSkip, Broadcast: c.Broadcast,
		ExpiresAt: c.Expiry.At, ExpiryTicks: c.Expiry.Ticks, RemoveExpired: c.Expiry.Remove, Revision: c.Revision,
	}
	if ticks != nil {
		ApplyCalendars(&r, ticks, c.Calendars, make([]*pool.Calendar, len(c.Calendars)))
	}
	return r
}

// Follow returns the settings for a new configuration in the registry. It refuses one of
// another job, and one that turns a job with a schedule into a one-off job or back. (In
// ElasticJob such a change breaks the job, defect B-28.)
func (s *Settings) Follow(c jobtype.Config, o *Options, modified int64) (*Settings, error) {
	next, err := New(c, o, modified)
	if err != nil {
		return nil, err
	}
	if next.Name != s.Name {
		return nil, &jobtype.FieldError{Field: "jobName", Err: fmt.Errorf("%q in the configuration of job %q", next.Name, s.Name)}
	}
	if next.Rules.IsOneOff() != s.Rules.IsOneOff() {
		return nil, &jobtype.FieldError{Field: "cron", Err: fmt.Errorf("%q: %w", next.Cron, jobtype.ErrKindConflict)}
	}
	return next, nil
}

// ApplyCalendars sets the calendars that are named, in the order of their names, and the ticks that they
// leave.
func ApplyCalendars(r *decide.Rules, all calendar.Schedule, names []string, read []*pool.Calendar) {
	var list []decide.Calendar
	var good []*calendar.Calendar
	for i, k := range read {
		named := decide.Calendar{Name: names[i]}
		if says := k.Good(); says != nil {
			good = append(good, says)
			named.Sum, named.Current, named.Version = says.Sum(), k.IsCurrent(), k.Version()
		}
		list = append(list, named)
	}
	slices.SortFunc(list, func(a, b decide.Calendar) int { return strings.Compare(a.Name, b.Name) })
	r.Calendars, r.LeftOut, r.Ticks = list, calendar.Meaning(good...), calendar.Without(all, good...)
}
