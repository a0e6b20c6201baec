package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// calendars are what a controller knows of the calendars that its configuration names. Jobs that
// name none have nothing of it.
type calendars struct {
	named   bool             // the pool follows them for this job
	read    []*pool.Calendar // as the pool had them last
	readFor *settings        // the settings that go by them
	leftOut string           // those that the ticks went by last
}

// followCalendars makes the ticks go by the calendars that the configuration names.
func (c *controller) followCalendars() {
	names := c.settings.Calendars
	if len(names) == 0 {
		c.leaveCalendars()
		return
	}
	if c.pool.Calendars == nil {
		return
	}
	known := &c.calendars
	known.named = true
	read := c.pool.Calendars.Of(names)
	if known.readFor == c.settings && slices.Equal(read, known.read) {
		return
	}
	next := *c.settings
	judgeBy(&next.rules, next.ticks, names, read)
	c.use(&next)
	known.read, known.readFor = read, &next
	if named := next.rules.NamedCalendars(); named != known.leftOut && next.rules.KnowsCalendars() {
		known.leftOut = named
		c.log.Info("ticks go by calendars", zap.String("calendars", named))
	}
}

// leaveCalendars says that the configuration names no calendars, or that this instance has left.
func (c *controller) leaveCalendars() {
	if c.calendars.named {
		c.pool.Calendars.Leave()
		c.calendars = calendars{}
	}
}

// judgeBy sets the calendars that are named, in the order of their names, and the ticks that they
// leave.
func judgeBy(r *decide.Rules, all calendar.Schedule, names []string, read []*pool.Calendar) {
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

// calendarFault says which calendars cannot be read; nil if all can.
func (c *controller) calendarFault() error {
	var errs []error
	for i, k := range c.calendars.read {
		if err := k.Fault(c.calendars.readFor.Calendars[i]); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, errors.Join(errs...))
}

// refusal is the configuration that this instance cannot follow; 0 if there is none. It cannot
// follow its own if it has tried to read a calendar and knows nothing of it, or remembers
// another one than is recorded: then others get its items, if they can.
func (c *controller) refusal() int64 {
	lacks := func(k *pool.Calendar) bool { return k != nil && k.Good() == nil }
	if c.refused == 0 && (slices.ContainsFunc(c.calendars.read, lacks) || c.state != nil && c.settings.rules.RemembersOther(c.state.Schedule)) {
		return c.settings.modified
	}
	return c.refused
}
