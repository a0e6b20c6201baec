package declare

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

// calendars are those of the namespace, and what the files make of them.
type calendars struct {
	before, after map[string]*calendar.Calendar // nil if it cannot be read
	changed       map[string]bool
	now           time.Time
}

// planCalendars decides what is to be done about the calendars of the files.
func planCalendars(ctx context.Context, o *ops.Ops, files []jobfile.Calendar) (*calendars, []Step, error) {
	list, err := o.Calendars(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := &calendars{before: map[string]*calendar.Calendar{}, after: map[string]*calendar.Calendar{}, changed: map[string]bool{}, now: time.Now()}
	there := map[string]*ops.Calendar{}
	for _, one := range list {
		there[one.Name], c.before[one.Name], c.after[one.Name] = one, one.Calendar, one.Calendar
	}
	var steps []Step
	for _, want := range files {
		s := Step{
			Kind: Calendar, Name: want.Name, Place: want.Place(),
			calendar: ops.PutCalendarRequest{Name: want.Name, Document: []byte(want.Document)},
		}
		parsed, err := calendar.Parse([]byte(want.Document))
		if err != nil {
			return nil, nil, err
		}
		switch has := there[want.Name]; {
		case has == nil:
			s.Action, s.calendar.New = Create, true
		case string(has.Document) == want.Document:
			s.Action = Unchanged
		default:
			s.Action, s.calendar.Version = Update, &has.Version
			before, after := string(has.Document), want.Document
			s.Differences = []jobfile.Difference{{Key: "document", Before: &before, After: &after}}
		}
		c.after[want.Name], c.changed[want.Name] = parsed, s.Action.Writes()
		steps = append(steps, s)
	}
	return c, steps, nil
}

// ticks is how many ticks a step shows.
const ticks = 3

// scheduleKeys are the keys on which the ticks of a job depend.
var scheduleKeys = []string{"cron", "moreCrons", "timeZone", "calendars", "expiry.at"}

// show puts the next ticks into a step, before and after, if its job gets others; and warns if there
// are none any more.
func (c *calendars) show(s *Step, there seen, want jobfile.Declared) {
	isNew := s.Action == Create
	names := slices.Concat(want.Config.Calendars, there.settings.Config.Calendars)
	if s.Action == Refuse || !isNew && !slices.ContainsFunc(s.Differences, func(d jobfile.Difference) bool { return slices.Contains(scheduleKeys, d.Key) }) &&
		!slices.ContainsFunc(names, func(name string) bool { return c.changed[name] }) {
		return
	}
	if there.isThere && there.unread == nil {
		s.Before, _ = next(there.settings.Config, c.before, c.now) // what is there may be wrong; only what comes counts
	}
	after, err := next(want.Config, c.after, c.now)
	s.After = after
	switch {
	case err != nil:
		s.warn("%v", err)
	case want.Config.Cron != "" && len(after) == 0:
		s.warn("no tick is to come")
	}
}

var (
	errNoCalendar  = errors.New("a calendar that it names is not there: no tick begins until it is")
	errBadCalendar = errors.New("a calendar that it names cannot be read")
)

// next returns the next ticks of a job.
func next(c job.Config, known map[string]*calendar.Calendar, now time.Time) ([]time.Time, error) {
	all, err := c.Ticks()
	if err != nil || all == nil {
		return nil, err
	}
	var named []*calendar.Calendar
	for _, name := range c.Calendars {
		one, is := known[name]
		switch {
		case !is:
			return nil, errNoCalendar
		case one == nil:
			return nil, errBadCalendar
		}
		named = append(named, one)
	}
	schedule := calendar.Without(all, named...)
	var list []time.Time
	for at := schedule.Next(now); !at.IsZero() && len(list) < ticks; at = schedule.Next(at) {
		if end := c.Expiry.At; !end.IsZero() && at.After(end) {
			break
		}
		list = append(list, at)
	}
	return list, nil
}
