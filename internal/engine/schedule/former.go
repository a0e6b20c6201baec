package schedule

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// former is what a follower remembers for Former.
type former struct {
	// The settings whose schedule was effective last, with what their calendars said.
	effective *setup.Settings
	// The last answer, and what it was about.
	schedule *jobtree.Schedule
	settings *setup.Settings
	answer   *decide.Former
}

// Former returns what the recorded schedule means while the configuration, s, has another one;
// nil if the recorded one is that of s, or cannot be read.
func (f *Follower) Former(w *decide.World, s *setup.Settings) *decide.Former {
	m := &f.former
	if w.IsScheduleEffective() {
		m.effective = s
		return nil
	}
	if w.Schedule == nil || w.Schedule.Err != nil || s.Ticks == nil {
		return nil
	}
	if m.schedule != w.Schedule || m.settings != s {
		m.schedule, m.settings, m.answer = w.Schedule, s, f.interpret(w.Schedule, s)
	}
	return m.answer
}

// interpret finds out what a recorded schedule means.
func (f *Follower) interpret(recorded *jobtree.Schedule, s *setup.Settings) *decide.Former {
	if k := f.former.effective; k != nil && recorded.Cron == k.Rules.Cron && recorded.TimeZone == k.Rules.TimeZone && recorded.Calendars == k.Rules.NamedCalendars() {
		isSame := k.Ticks.Same(s.Ticks)
		return &decide.Former{Ticks: decide.UpTo(recorded.Until, k.Rules.Ticks), SameExpressions: isSame, SameTicks: isSame && k.Rules.LeftOut == s.Rules.LeftOut}
	}
	all, err := parse(recorded)
	if err != nil {
		return nil
	}
	calendars, isSure := f.recordedCalendars(recorded, s)
	isSame := all.Same(s.Ticks)
	return &decide.Former{
		Ticks:            decide.UpTo(recorded.Until, calendar.Without(all, calendars...)),
		SameExpressions:  isSame,
		SameTicks:        isSame && recorded.LeftOut == s.Rules.LeftOut && (recorded.LeftOut != "" || recorded.Calendars == ""), // or an older version has recorded it
		CalendarsUnknown: !isSure,
	}
}

// parse reads the expressions of a recorded schedule.
func parse(s *jobtree.Schedule) (cronexpr.Union, error) {
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

// recordedCalendars returns the calendars of a recorded schedule as they are now, because nobody remembers what
// they said then: so a tick may be made up that a calendar left out. isSure is false if one of them is gone.
func (f *Follower) recordedCalendars(recorded *jobtree.Schedule, s *setup.Settings) (list []*calendar.Calendar, isSure bool) {
	if recorded.Calendars == "" {
		return nil, true
	}
	isSure = true
	for one := range strings.SplitSeq(recorded.Calendars, ",") {
		name, _, _ := strings.Cut(one, "=")
		n := slices.Index(s.Calendars, name)
		if n < 0 || n >= len(f.read) || f.read[n].Good() == nil {
			isSure = false
			continue
		}
		list = append(list, f.read[n].Good())
	}
	return list, isSure
}
