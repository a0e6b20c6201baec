package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// PlanRequest says what is to be compared with what is there.
type PlanRequest struct {
	// Config is what would be given to Update, or to Create if there is no such job.
	Config jobtype.Config
	// Version is the one that the configuration has to have, as for UpdateRequest. 0 is any, or none.
	Version int64
	Without []string // as in UpdateRequest
	// Ticks is how many ticks are told: up to MaxPlanTicks. Default 5.
	Ticks int
	// Calendars are those that are to be written before, by name: the next ticks go by them.
	Calendars map[string]*calendar.Calendar
}

// MaxPlanTicks bounds the ticks that a plan tells.
const MaxPlanTicks = 1000

const defaultPlanTicks = 5

// Plan is what an update would change.
type Plan struct {
	Job string `json:"job"`
	// New is whether there is no such job, so it would be created.
	New bool `json:"new,omitempty"`
	// Version is that of the configuration that was compared, for UpdateRequest; 0 if there is none.
	Version int64 `json:"version,omitempty"`
	// Changes are the fields that would have other values. There are none for a job that is new, or whose configuration cannot be read.
	Changes []jobtype.Difference `json:"changes"`
	// Before and After are the documents: as it stands there, and as it would be written.
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
	// TicksBefore and TicksAfter are the next ticks by each of the two, without those that calendars
	// leave out and those after the job's end. A one-off job has none.
	TicksBefore []time.Time `json:"ticksBefore,omitempty"`
	TicksAfter  []time.Time `json:"ticksAfter,omitempty"`
	// Warnings say what the change does beside, or does not, in a sentence each.
	Warnings []string `json:"warnings,omitempty"`
}

// Empty reports whether the update would write nothing.
func (p *Plan) Empty() bool { return !p.New && p.Before == p.After }

// Plan returns what Update would change, or Create if there is no such job. It changes nothing, and
// fails where these would because of what was asked for. Whether every process knows what the
// configuration names, the tree does not tell.
//
// Errors: ErrNoJob, if a version is asked for; ErrConfigChanged; jobtype.ErrKindConflict; a
// *job.ConfigError; those of a read; one for bad requests.
func (j *Job) Plan(ctx context.Context, r PlanRequest) (*Plan, error) {
	p, err := j.plan(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("job %s: plan: %w", brief.Text(string(j.name)), err)
	}
	return p, nil
}

func (j *Job) plan(ctx context.Context, r PlanRequest) (*Plan, error) {
	switch {
	case r.Ticks < 0 || r.Ticks > MaxPlanTicks:
		return nil, wrong("ticks", "%d ticks: 0 to %d are allowed", r.Ticks, MaxPlanTicks)
	case r.Ticks == 0:
		r.Ticks = defaultPlanTicks
	}
	there, err := j.config(ctx)
	if errors.Is(err, ErrNoJob) && r.Version == 0 && j.check() == nil {
		return j.planNew(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	version := r.Version
	if version == 0 {
		version = there.Modified
	}
	next, document, err := j.replace(there, UpdateRequest{Config: r.Config, Version: version, Without: r.Without})
	if err != nil {
		return nil, err
	}
	p := &Plan{Job: string(j.name), Version: there.Modified, Before: string(there.Value), After: string(document)}
	before, unread := jobtype.DecodeConfig(there.Value)
	if unread == nil {
		p.Changes = before.Differences(next)
	}
	s, err := j.readFor(ctx, there, before, next, !bytes.Equal(document, there.Value))
	if err != nil {
		return nil, err
	}
	if unread == nil {
		if p.TicksBefore, err = j.ops.nextTicks(ctx, before, s.Schedule, PlanRequest{Ticks: r.Ticks}); errors.Is(err, ErrNoCalendar) || errors.Is(err, errBadCalendar) {
			err = nil // it is a fault of the job already
		}
		if err != nil {
			return nil, err
		}
		if text := j.ops.owed(ctx, before, next, s); text != "" {
			p.Warnings = append(p.Warnings, text)
		}
	} else {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the configuration that is there cannot be read, and what is wrong in it goes: %v", brief.Error(unread)))
	}
	return p, j.ops.planNext(ctx, p, change{before: before, next: next, state: s, differences: p.Changes, there: there.Value}, r)
}

// planNew is plan for a job that is not there.
func (j *Job) planNew(ctx context.Context, r PlanRequest) (*Plan, error) {
	if r.Config.Name == "" {
		r.Config.Name = string(j.name)
	}
	if r.Config.Name != string(j.name) {
		return nil, wrong("config.jobName", "the configuration is that of job %s", brief.Quote(r.Config.Name))
	}
	document, err := r.Config.Encode(nil)
	if err != nil {
		return nil, err
	}
	p := &Plan{Job: string(j.name), New: true, After: string(document)}
	return p, j.ops.planNext(ctx, p, change{next: r.Config, state: &jobtree.State{}}, r)
}

// planNext adds the ticks to come, and the warnings.
func (o *Ops) planNext(ctx context.Context, p *Plan, c change, r PlanRequest) error {
	c.before, c.next = c.before.WithDefaults(), c.next.WithDefaults()
	var err error
	p.TicksAfter, err = o.nextTicks(ctx, c.next, c.recorded(o.now()), r)
	switch {
	case errors.Is(err, ErrNoCalendar), errors.Is(err, errBadCalendar):
		p.Warnings = append(p.Warnings, fmt.Sprintf("no tick begins until its calendars are there and can be read: %v", brief.Error(err)))
	case err != nil:
		return err
	case c.next.Cron != "" && len(p.TicksAfter) == 0:
		p.Warnings = append(p.Warnings, "no tick is to come by this schedule")
	}
	p.Warnings = append(p.Warnings, c.warnings()...)
	return nil
}

// readFor reads what a plan needs of the job's tree: of one that changes nothing the schedule, and the
// items only if there are to be fewer, or another schedule.
func (j *Job) readFor(ctx context.Context, config coord.Node, before, next jobtype.Config, changes bool) (*jobtree.State, error) {
	parts := []string{j.name.Schedule()}
	if changes {
		// Sessions before instances: an instance without a session is a JVM member's.
		parts = append(parts, j.name.Sessions(), j.name.Instances())
		if next.ShardingTotalCount < before.ShardingTotalCount || isRescheduled(before, next) {
			parts = append(parts, j.name.Sharding())
		}
	}
	tree := coord.NewTree()
	tree.Put(config)
	for _, part := range parts {
		for n, err := range j.ops.reg.Walk(ctx, part) {
			if err != nil {
				return nil, err
			}
			tree.Put(n)
		}
	}
	return j.state(tree)
}

// nextTicks returns the next ticks of a job. recorded is what the leader has recorded, or would.
func (o *Ops) nextTicks(ctx context.Context, c jobtype.Config, recorded *jobtree.Schedule, r PlanRequest) ([]time.Time, error) {
	schedule, err := ticksOf(c, recorded, func(name string) (*Calendar, error) {
		if given := r.Calendars[name]; given != nil {
			return &Calendar{Name: name, Calendar: given}, nil
		}
		return o.Calendar(ctx, name)
	})
	if err != nil || schedule == nil {
		return nil, err
	}
	if recorded != nil && recorded.Until.IsZero() && c.Expiry.Ticks > 0 {
		schedule = decide.UpTo(decide.End(schedule, c.Expiry.At, recorded.Counted, c.Expiry.Ticks), schedule)
	}
	ticks := make([]time.Time, 0, r.Ticks)
	for at := schedule.Next(o.now()); !at.IsZero() && len(ticks) < r.Ticks; at = schedule.Next(at) {
		ticks = append(ticks, at)
	}
	return ticks, nil
}

// recorded returns what the leader will have recorded of the next schedule: the end of the job, or
// since when its ticks count. See decide.World.RecordSchedule.
func (c change) recorded(now time.Time) *jobtree.Schedule {
	there := c.state.Schedule
	switch {
	case there == nil || c.next.Expiry.Ticks != there.ExpiryTicks || !hasExpressions(there, c.next):
		return &jobtree.Schedule{ScheduleDocument: jobtree.ScheduleDocument{Counted: now}}
	case !c.next.Expiry.At.Equal(there.ExpiresAt) || strings.Join(c.next.Calendars, ",") != strings.Join(c.before.Calendars, ","):
		return &jobtree.Schedule{ScheduleDocument: jobtree.ScheduleDocument{Counted: there.Counted}}
	}
	return there
}

// hasExpressions reports whether a recorded schedule has the expressions of a job, perhaps in other words.
func hasExpressions(there *jobtree.Schedule, c jobtype.Config) bool {
	if cronsOf(c) == there.Cron && c.TimeZone == there.TimeZone {
		return true
	}
	crons := strings.Split(there.Cron, "\n")
	before, err := jobtype.Config{Cron: crons[0], MoreCrons: crons[1:], TimeZone: there.TimeZone}.Ticks()
	if err != nil {
		return false
	}
	next, err := c.Ticks()
	return err == nil && before.Same(next)
}

// cronsOf returns the expressions of a job as the schedule's node has them.
func cronsOf(c jobtype.Config) string {
	return strings.Join(append([]string{c.Cron}, c.MoreCrons...), "\n")
}
