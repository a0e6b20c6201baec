package why

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// due is the tick that an answer is about, by the schedule of that time.
type due struct {
	tick, next time.Time
	config     jobtype.Config
	ticks      calendar.Schedule // nil if there is none
	none       *Cause            // why there was no tick; nil if there was one
	changed    *Cause            // that the schedule of the tick is not known; nil if it is
	calendars  map[string]*calendar.Calendar
	unseen     []string
}

// version is a configuration of a job, from a moment on.
type version struct {
	from     time.Time // zero for the earliest that is known
	config   jobtype.Config
	isThere  bool // else the job was not there
	isUnread bool // else config is what it said
}

// versions returns the configurations of a job, the newest first. changes are ascending, and since is when the schedule
// of now was recorded as the one in force.
func versions(now jobtype.Config, since time.Time, changes []ops.Change) (list []version) {
	v := version{config: now, isThere: true}
	for _, c := range slices.Backward(changes) {
		if !slices.Contains([]ops.Action{ops.ActionCreate, ops.ActionUpdate, ops.ActionApply, ops.ActionRemove}, c.Action) || c.Before == c.After {
			continue
		}
		v.from = c.At
		list = append(list, v)
		v = version{config: now, isThere: c.Before != ""}
		if config, err := jobtype.DecodeConfig([]byte(c.Before)); err == nil && !c.Cut && !strings.HasSuffix(c.Before, "…") {
			v.config = config
		} else {
			v.isUnread = true
		}
	}
	// Resume, and a change of a calendar, record the schedule anew.
	isSame := slices.ContainsFunc(changes, func(c ops.Change) bool {
		return (c.Action == ops.ActionResume || c.Job == "") && c.At.Sub(since).Abs() < time.Minute
	})
	if list == nil && !since.IsZero() && !isSame { // a program has brought it
		v.from = since
		return []version{v, {config: now, isThere: true, isUnread: true}}
	}
	return append(list, v)
}

// dueAt finds the last tick up to a moment. A schedule has none before it came into force: then the last one of the
// schedule before counts.
func dueAt(at time.Time, list []version, changes []ops.Change, calendars []*ops.Calendar) (d due) {
	upTo, inForce := at, true
	for n, v := range list {
		if v.from.After(at) {
			continue
		}
		d.config, d.unseen = v.config, nil
		switch {
		case !v.isThere:
			d.none = &Cause{Kind: Created, Text: "the job was not there"}
			if n > 0 {
				d.none.Until = list[n-1].from
			}
			return d
		case v.isUnread:
			d.unseen = append(d.unseen, "The schedule of that time is not known: the answer is by the one of today.")
			d.changed = &Cause{Kind: ScheduleChanged, Until: list[max(n-1, 0)].from, Text: "another schedule may have been in force: a new one has no earlier ticks"}
		}
		all := d.read(changes, at, calendars)
		if all == nil {
			return d
		}
		if inForce {
			d.next, inForce = d.ticks.Next(at), false
		}
		d.tick, d.none = d.ticks.Prev(upTo), nil
		if out := all.Prev(upTo); out.After(d.tick) {
			d.none = leftOut(out, d.calendars)
			d.tick = out
		}
		if d.tick.After(v.from) {
			return d
		}
		d.tick, upTo = time.Time{}, v.from
	}
	return d
}

// read makes the ticks of the configuration, with the calendars as they were at a moment. It returns also those that
// calendars leave out; nil if the job has none.
func (d *due) read(changes []ops.Change, at time.Time, today []*ops.Calendar) calendar.Schedule {
	union, err := d.config.Ticks()
	if err != nil {
		d.unseen = append(d.unseen, "The schedule cannot be read: "+brief.Error(err).Error())
		return nil
	}
	if union == nil {
		d.none = &Cause{Kind: OneOff, Text: "the job has no cron expression: it runs only when it is triggered"}
		return nil
	}
	if d.config.TimeZone == "" {
		d.unseen = append(d.unseen, "The job has no time zone, so each process goes by its own: the answer is by that of this one.")
	}
	if d.config.Expiry.Ticks > 0 {
		d.unseen = append(d.unseen, "The job ends after a number of ticks: that is not looked at.")
	}
	d.calendars = map[string]*calendar.Calendar{}
	for _, name := range d.config.Calendars {
		var document []byte
		if i := slices.IndexFunc(today, func(c *ops.Calendar) bool { return c.Name == name }); i >= 0 {
			document = today[i].Document
		}
		// The first change after the moment says how it was then.
		if i := slices.IndexFunc(changes, func(c ops.Change) bool { return c.Job == "" && c.Detail == "calendar "+name && c.At.After(at) }); i >= 0 {
			document = []byte(changes[i].Before)
		}
		if c, err := calendar.Parse(document); err == nil && document != nil {
			d.calendars[name] = c
		} else {
			d.unseen = append(d.unseen, fmt.Sprintf("Calendar %s of that time cannot be read.", brief.Quote(name)))
		}
	}
	all := decide.UpTo(d.config.Expiry.At, union)
	d.ticks = calendar.Without(all, slices.Collect(maps.Values(d.calendars))...)
	return all
}

// leftOut says which calendar has left a tick out.
func leftOut(tick time.Time, calendars map[string]*calendar.Calendar) *Cause {
	for _, c := range outs(calendars, tick, tick.Add(time.Second)) {
		return &c
	}
	return nil
}
