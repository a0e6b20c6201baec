package declare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ticks is how many ticks a step shows.
const ticks = 3

// look asks what comes of a step for a job: the next ticks, if they become others, and what an operator
// should know. written are the calendars that are written before.
func (s *Step) look(ctx context.Context, o *ops.Ops, adopt bool, written map[string]*calendar.Calendar) error {
	s.lookWhoRuns(ctx, o, adopt)
	if s.isOld && (s.Action == Update || s.Action == Adopt) {
		if who := runBy(ctx, o, s.Name, func(in ops.InstanceInfo) bool { return in.JVM }); who != "" {
			*s = s.refuse(fmt.Errorf("%w: %s", ErrOldMembers, who))
		}
	}
	if s.Action != Create && s.Action != Update && !s.names(written) {
		return nil
	}
	p, err := o.Job(s.Name).Plan(ctx, ops.PlanRequest{Config: s.request.Config, Version: s.request.Version, Ticks: ticks, Calendars: written})
	switch {
	case errors.Is(err, ops.ErrConfigChanged), errors.Is(err, ops.ErrNoJob):
		s.warn("somebody changes it while the plan is made: %v", err)
		return nil
	case err != nil:
		return err
	}
	if s.Action == Create || s.names(written) || slices.ContainsFunc(s.Differences, onSchedule) {
		s.Before, s.After = p.TicksBefore, p.TicksAfter
	}
	s.Warnings = append(s.Warnings, p.Warnings...)
	return nil
}

// lookWhoRuns says who runs a job that is pruned or refused, and refuses, unless it is adopted, that a job which runs gets
// another implementation.
func (s *Step) lookWhoRuns(ctx context.Context, o *ops.Ops, adopt bool) {
	isRefused := s.Action == Refuse && s.Err == s.taken
	if s.Action != Prune && !isRefused && (s.Action != Update || s.other == nil) {
		return
	}
	const wayOut = "adopt it, or leave it out here"
	who := RunBy(ctx, o, s.Name)
	switch {
	case who == "" && isRefused:
		*s = s.refuse(fmt.Errorf("%w; %s", s.taken, wayOut))
	case who == "":
	case s.Action == Prune:
		s.warn("it is run by %s", who)
	case adopt:
		s.warn("%v; it is run by %s; they go on, with a fault, until they end", s.other, who)
	case !isRefused:
		*s = s.refuse(fmt.Errorf("%w; it is run by %s; %s", s.other, who, wayOut))
	case s.other == nil:
		*s = s.refuse(fmt.Errorf("%w; it is run by %s; %s", s.taken, who, wayOut))
	default:
		*s = s.refuse(fmt.Errorf("%w; %w; it is run by %s; %s", s.taken, s.other, who, wayOut))
	}
}

// RunBy says which instances run a job: 1 instance: "…". It is empty if there is none.
func RunBy(ctx context.Context, o *ops.Ops, job string) string {
	return runBy(ctx, o, job, func(ops.InstanceInfo) bool { return true })
}

// runBy is RunBy for some of the instances.
func runBy(ctx context.Context, o *ops.Ops, job string, counts func(ops.InstanceInfo) bool) string {
	instances, err := o.Job(job).Instances(ctx)
	instances = slices.DeleteFunc(instances, func(in ops.InstanceInfo) bool { return !counts(in) })
	var list brief.List
	for _, in := range instances {
		list.Add(in.ID)
	}
	switch {
	case errors.Is(err, ops.ErrNoJob):
		return ""
	case err != nil: // such as a part of it that cannot be read, which must not keep anybody from repairing it
		return fmt.Sprintf("instances that cannot be told: %v", brief.Error(err))
	case len(instances) == 1:
		return fmt.Sprintf("1 instance: %v", &list)
	case len(instances) > 1:
		return fmt.Sprintf("%d instances: %v", len(instances), &list)
	}
	return ""
}

// names reports whether the job names one of some calendars.
func (s *Step) names(written map[string]*calendar.Calendar) bool {
	return s.Action != Refuse && slices.ContainsFunc(s.request.Config.Calendars, func(name string) bool { return written[name] != nil })
}

// onSchedule reports whether a key says when a job ticks.
func onSchedule(d jobfile.Difference) bool {
	return slices.Contains([]string{"cron", "moreCrons", "timeZone", "calendars", "expiry.at", "expiry.ticks"}, d.Key)
}
