package decide

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Calendar is a calendar that the rules name, as this process knows it.
type Calendar struct {
	Name string
	// Sum is that of what the calendar says here; "" if this process does not know the calendar.
	Sum string
	// Current is whether its node says the same, at Version. Otherwise the node is gone or
	// cannot be read, and this process goes on by what it said before.
	Current bool
	Version int64
}

// KnowsCalendars reports whether this process knows all calendars that the rules name.
func (r *Rules) KnowsCalendars() bool {
	return !slices.ContainsFunc(r.Calendars, func(c Calendar) bool { return c.Sum == "" })
}

// NamedCalendars returns the calendars, and the sum of each, as they are recorded.
func (r *Rules) NamedCalendars() string {
	var list []string
	for _, c := range r.Calendars {
		list = append(list, c.recorded())
	}
	return strings.Join(list, ",")
}

func (c *Calendar) recorded() string { return c.Name + "=" + c.Sum }

// RemembersOtherCalendar reports whether this process remembers a calendar, whose node is gone or cannot
// be read, otherwise than it is recorded: so it begins no tick until the node is back.
func (r *Rules) RemembersOtherCalendar(s *jobtree.Schedule) bool {
	if s == nil || len(r.Calendars) == 0 {
		return false
	}
	recorded := strings.Split(s.Calendars, ",")
	return slices.ContainsFunc(r.Calendars, func(c Calendar) bool {
		return c.Sum != "" && !c.Current && !slices.Contains(recorded, c.recorded())
	})
}

// ifSameCalendars returns the conditions under which the schedule may be recorded: the calendars are as
// this process knows them. ok is false if it must not be. A leader whose view is late would record an
// earlier calendar again. And if the node of a calendar is gone, processes may remember different ones:
// the one that is recorded stays.
func (w *World) ifSameCalendars() (ops []coord.Op, ok bool) {
	var recorded []string
	if w.Schedule != nil {
		recorded = strings.Split(w.Schedule.Calendars, ",")
	}
	for _, c := range w.Rules.Calendars {
		switch {
		case c.Sum == "":
			return nil, false
		case c.Current:
			ops = append(ops, coord.AtVersion(jobtree.Calendar(c.Name), c.Version))
		case !slices.Contains(recorded, c.recorded()):
			return nil, false
		}
	}
	return ops, true
}
