package jobtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// MaxTicks bounds what [Ticks] returns.
const MaxTicks = 100_000

// Ticks returns the ticks of a configuration after from and up to to: those that a job fires
// which is started at from, when it is to, up to its end (Config.Expiry). They are in the job's
// time zone, ascending. The calendars are those that Config.Calendars names, in that order.
//
// Errors: a *job.ConfigError; others if the job has no schedule, if calendars are missing, and
// if there are more than MaxTicks.
func Ticks(c job.Config, from, to time.Time, calendars ...*calendar.Calendar) ([]time.Time, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("jobtest: ticks: %w", err)
	}
	fail := func(format string, args ...any) ([]time.Time, error) {
		return nil, fmt.Errorf("jobtest: ticks of job %s: "+format, append([]any{c.Name}, args...)...)
	}
	if c.Cron == "" {
		return fail("Cron is empty, and a job without a schedule has none")
	}
	if len(calendars) != len(c.Calendars) {
		return fail("%d calendars were given; the configuration names %d (%s), and each is needed, in that order",
			len(calendars), len(c.Calendars), brief.Text(strings.Join(c.Calendars, ", ")))
	}
	for i, given := range calendars {
		if given == nil {
			return fail("the calendar %s is nil", c.Calendars[i])
		}
	}
	union, err := c.Ticks()
	if err != nil {
		return fail("%w", err)
	}
	schedule := calendar.Without(union, calendars...)
	if end := c.Expiry.At; !end.IsZero() && end.Before(to) {
		to = end
	}
	var ticks []time.Time
	for at := schedule.Next(from); !at.IsZero() && !at.After(to); at = schedule.Next(at) {
		switch n := len(ticks); {
		case c.Expiry.Ticks > 0 && n == c.Expiry.Ticks:
			return ticks, nil
		case n == MaxTicks:
			return fail("more than %d between %s and %s; ask for a shorter time", MaxTicks, from.Format(time.RFC3339), to.Format(time.RFC3339))
		}
		ticks = append(ticks, at)
	}
	return ticks, nil
}
