package declare

import (
	"context"
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ticks is how many ticks a step shows.
const ticks = 3

// look asks what comes of a step for a job: the next ticks, if they become others, and what an operator
// should know. written are the calendars that are written before.
func (s *Step) look(ctx context.Context, o *ops.Ops, written map[string]*calendar.Calendar) error {
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

// names reports whether the job names one of some calendars.
func (s *Step) names(written map[string]*calendar.Calendar) bool {
	return s.Action != Refuse && slices.ContainsFunc(s.request.Config.Calendars, func(name string) bool { return written[name] != nil })
}

// onSchedule reports whether a key says when a job ticks.
func onSchedule(d jobfile.Difference) bool {
	return slices.Contains([]string{"cron", "moreCrons", "timeZone", "calendars", "expiry.at", "expiry.ticks"}, d.Key)
}
