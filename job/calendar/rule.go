package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// rule is an RRULE.
type rule struct {
	option rrule.ROption
	// until is as it is written: a date, a time of the event's zone, or one of UTC.
	until      time.Time
	isUntilUTC bool
}

const (
	// minYear is the first year in which an event may begin.
	minYear = 1900
	// later is how many years later rules are expanded. The library looks for more times of a
	// rule until the year 9999, and so for long if there are none. After 400 years all dates
	// have the same weekdays again: so the times are the same, and the year 9999 is near.
	later = 19 * 400
	// mostPositions bounds BYSETPOS. 300 rules with 366 positions took minutes to expand, at each reading.
	mostPositions = 10
)

// parseRule reads an RRULE. What the library does not bound is bounded here.
func parseRule(text string) (r rule, err error) {
	text = strings.TrimSuffix(strings.ToUpper(text), ";")
	for part := range strings.SplitSeq(text, ";") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "UNTIL":
			r.isUntilUTC = strings.HasSuffix(value, "Z")
			// A date is the whole day.
			layout := map[int]string{len("20060102"): "20060102", len("20060102T150405"): "20060102T150405"}[len(strings.TrimSuffix(value, "Z"))]
			if r.until, err = time.Parse(layout, strings.TrimSuffix(value, "Z")); err != nil || layout == "" || r.until.IsZero() {
				return r, errors.New("UNTIL: a date or a time is expected")
			}
			if layout == "20060102" {
				r.until, r.isUntilUTC = r.until.Add(day*time.Second-time.Second), false
			}
		case "BYEASTER", "DTSTART", "RSCALE", "SKIP":
			return r, fmt.Errorf("%s is not supported", key)
		}
	}
	option, err := rrule.StrToROption(text)
	if err != nil {
		return r, err
	}
	r.option = *option
	return r, r.check()
}

func (r *rule) check() error {
	o := &r.option
	const most = 10_000
	nth := 53
	if o.Freq == rrule.MONTHLY || len(o.Bymonth) > 0 {
		nth = 5
	}
	switch {
	case o.Freq > rrule.DAILY:
		return errors.New("FREQ: YEARLY, MONTHLY, WEEKLY and DAILY are supported")
	case o.Interval < 0 || o.Interval > most || o.Count < 0:
		return fmt.Errorf("INTERVAL of 1 to %d, and a COUNT that is not negative, are allowed", most)
	case max(len(o.Byhour), 1)*max(len(o.Byminute), 1)*max(len(o.Bysecond), 1) > 24:
		return errors.New("more than 24 times a day")
	case slices.Max([]int{len(o.Bysetpos), len(o.Bymonth), len(o.Bymonthday), len(o.Byyearday), len(o.Byweekno), len(o.Byweekday)}) > 366:
		return errors.New("a list of more than 366 values")
	case len(o.Bysetpos) > mostPositions: // the library makes a list of all days of each period for each of them
		return fmt.Errorf("BYSETPOS: up to %d positions are allowed", mostPositions)
	case slices.ContainsFunc(o.Byweekday, func(d rrule.Weekday) bool { return d.N() < -nth || d.N() > nth }):
		return fmt.Errorf("BYDAY: up to %d are allowed", nth)
	}
	return nil
}

// expand adds the walls of a rule for an event that begins at a moment, up to most.
func (r *rule) expand(begin moment, most int, walls map[int64]bool) (err error) {
	// The library checks less than it relies on. What a stranger writes must not end a process.
	defer func() {
		if recover() != nil {
			err = errors.New("RRULE: cannot be expanded")
		}
	}()
	o := r.option
	o.Dtstart = time.Unix(begin.wall, 0).UTC().AddDate(later, 0, 0)
	until := time.Date(lastYear+1, 1, 2, 0, 0, 0, 0, time.UTC)
	if u := r.until; !u.IsZero() && u.Before(until) {
		if r.isUntilUTC {
			u = time.Unix(begin.zone.wall(u.Unix()), 0).UTC()
		}
		until = u
	}
	o.Until = until.AddDate(later, 0, 0)
	expanded, err := rrule.NewRRule(o)
	if err != nil {
		return fmt.Errorf("RRULE: %w", err)
	}
	next := expanded.Iterator()
	for n := 0; ; n++ {
		at, ok := next()
		if !ok {
			return nil
		}
		if n >= most {
			return errTooMany
		}
		walls[at.AddDate(-later, 0, 0).Unix()] = true
	}
}
