package engine

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// formerly is what a controller knows of the schedule that is recorded, while its configuration has another one.
type formerly struct {
	// The settings whose schedule was in force last, with what their calendars said. world sets it.
	inForce *settings
	// The last answer of former, and what it was about.
	schedule *jobtree.Schedule
	settings *settings
	answer   *decide.Former
}

// former returns what the recorded schedule means; nil if it is in force, or cannot be read.
func (c *controller) former(w *decide.World) *decide.Former {
	f := &c.formerly
	if w.IsInForce() {
		f.inForce = c.settings
		return nil
	}
	if s := w.Schedule; s == nil || s.Err != nil || c.settings.ticks == nil {
		return nil
	}
	if f.schedule != w.Schedule || f.settings != c.settings {
		f.schedule, f.settings, f.answer = w.Schedule, c.settings, c.understand(w.Schedule)
	}
	return f.answer
}

// understand finds out what a recorded schedule means.
func (c *controller) understand(s *jobtree.Schedule) *decide.Former {
	rules := &c.settings.rules
	if k := c.formerly.inForce; k != nil && s.Cron == k.rules.Cron && s.TimeZone == k.rules.TimeZone && s.Calendars == k.rules.NamedCalendars() {
		isSame := k.ticks.Same(c.settings.ticks)
		return &decide.Former{Ticks: decide.UpTo(s.Until, k.rules.Ticks), SameExpressions: isSame, SameTicks: isSame && k.rules.LeftOut == rules.LeftOut}
	}
	all, err := parseRecorded(s)
	if err != nil {
		return nil
	}
	calendars, isSure := c.recordedCalendars(s)
	isSame := all.Same(c.settings.ticks)
	return &decide.Former{
		Ticks:           decide.UpTo(s.Until, calendar.Without(all, calendars...)),
		SameExpressions: isSame,
		SameTicks:       isSame && s.LeftOut == rules.LeftOut && (s.LeftOut != "" || s.Calendars == ""), // or an older version has recorded it
		Unsure:          !isSure,
	}
}

// parseRecorded reads the expressions of a recorded schedule.
func parseRecorded(s *jobtree.Schedule) (cronexpr.Union, error) {
	zone, err := cronexpr.LoadLocation(s.TimeZone)
	if err != nil {
		return nil, err
	}
	var all cronexpr.Union
	for expr := range strings.SplitSeq(s.Cron, "\n") {
		one, err := cronexpr.Parse(expr, zone)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// recordedCalendars returns the calendars of a recorded schedule, which no process remembers, as they are now: so a
// tick may be made up that a calendar has left out before. isSure is false if one of them is gone.
func (c *controller) recordedCalendars(s *jobtree.Schedule) (list []*calendar.Calendar, isSure bool) {
	if s.Calendars == "" {
		return nil, true
	}
	isSure = true
	for recorded := range strings.SplitSeq(s.Calendars, ",") {
		name, _, _ := strings.Cut(recorded, "=")
		n := slices.Index(c.settings.Calendars, name)
		if n < 0 || n >= len(c.calendars.read) || c.calendars.read[n].Good() == nil {
			isSure = false
			continue
		}
		list = append(list, c.calendars.read[n].Good())
	}
	return list, isSure
}
