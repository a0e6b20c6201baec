package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// almanac is what a controller knows of the calendars that its configuration names. Jobs that
// name none have nothing of it.
type almanac struct {
	calendars source    // of the node
	isNaming  bool      // calendars knows this job: followCalendars
	entries   []*known  // as calendars had them last: followCalendars
	readFor   *settings // the settings that go by them: followCalendars
	leftOut   string    // the calendars that the ticks went by last: followCalendars
}

// source is where a controller learns what calendars say: calendars, or the model of a test.
type source interface {
	// of returns what is known of calendars now, and wakes the job when that changes.
	of(c *controller, names []string) []*known
	// leave ends that.
	leave(c *controller)
}

// followCalendars makes the ticks go by the calendars that the configuration names.
func (c *controller) followCalendars() {
	names := c.settings.Calendars
	if len(names) == 0 {
		c.leaveCalendars()
		return
	}
	if c.calendars == nil {
		return
	}
	c.isNaming = true
	read := c.calendars.of(c, names)
	if c.readFor == c.settings && slices.Equal(read, c.entries) {
		return
	}
	next := *c.settings
	judgeBy(&next.rules, next.ticks, names, read)
	c.use(&next)
	c.entries, c.readFor = read, &next
	if named := next.rules.NamedCalendars(); named != c.leftOut && next.rules.KnowsCalendars() {
		c.leftOut = named
		c.log.Info("ticks go by calendars", zap.String("calendars", named))
	}
}

// leaveCalendars says that the configuration names no calendars, or that this instance has left.
func (c *controller) leaveCalendars() {
	if c.isNaming {
		c.calendars.leave(c)
		c.isNaming, c.entries, c.readFor, c.leftOut = false, nil, nil, ""
	}
}

// judgeBy sets the calendars that are named, in the order of their names, and the ticks that they
// leave.
func judgeBy(r *decide.Rules, all calendar.Schedule, names []string, read []*known) {
	var list []decide.Calendar
	var good []*calendar.Calendar
	for i, k := range read {
		named := decide.Calendar{Name: names[i]}
		if k != nil && k.good != nil {
			good = append(good, k.good)
			named.Sum, named.Current, named.Version = k.good.Sum(), k.err == nil, k.node.Version
		}
		list = append(list, named)
	}
	slices.SortFunc(list, func(a, b decide.Calendar) int { return strings.Compare(a.Name, b.Name) })
	r.Calendars, r.LeftOut, r.Ticks = list, calendar.Meaning(good...), calendar.Without(all, good...)
}

// calendarFault says which calendars cannot be read; nil if all can.
func (c *controller) calendarFault() error {
	var errs []error
	for i, k := range c.entries {
		if err := k.explain(c.readFor.Calendars[i]); err != nil {
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
	lacks := func(k *known) bool { return k != nil && k.good == nil }
	if c.refused == 0 && (slices.ContainsFunc(c.entries, lacks) || c.state != nil && c.settings.rules.RemembersOther(c.state.Schedule)) {
		return c.settings.modified
	}
	return c.refused
}
