package calendar

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event is a VEVENT: what an event says, and for which times it says it.
type event struct {
	line       int // of its begin
	uid        string
	isOff      bool // it is cancelled
	begin, end moment
	lasts      *duration
	rules      []rule
	more       []moment // RDATE
	fewer      []moment // EXDATE
	replaces   moment   // RECURRENCE-ID: the time of a series that this event stands for
}

// moment is a date, or a time in a zone.
type moment struct {
	zone   zone // nil if there is none
	wall   int64
	isDate bool
}

func (m moment) instant() int64 { return m.zone.instant(m.wall) }

// duration is how long an event lasts: days by the clock, and then seconds.
type duration struct{ days, seconds int64 }

// property reads a property of an event.
func (f *file) property(e *event, p property) (err error) {
	switch p.name {
	case "UID":
		e.uid = p.value
	case "STATUS":
		e.isOff = p.value == "CANCELLED"
	case "DTSTART":
		e.begin, err = f.moment(p, p.value)
	case "DTEND":
		e.end, err = f.moment(p, p.value)
	case "DURATION":
		e.lasts, err = parseDuration(p.value)
	case "RRULE":
		if f.rules++; f.rules > maxRules {
			return fmt.Errorf("more than %d rules", maxRules)
		}
		var r rule
		r, err = parseRule(p.value)
		e.rules = append(e.rules, r)
	case "RDATE":
		e.more, err = f.moments(e.more, p)
	case "EXDATE":
		e.fewer, err = f.moments(e.fewer, p)
	case "RECURRENCE-ID":
		if p.parameters["RANGE"] != "" {
			return errors.New("RANGE is not supported")
		}
		e.replaces, err = f.moment(p, p.value)
	case "EXRULE":
		return errors.New("EXRULE is not supported; EXDATE is")
	}
	return err
}

// moments adds the moments of a list.
func (f *file) moments(list []moment, p property) ([]moment, error) {
	for text := range strings.SplitSeq(p.value, ",") {
		m, err := f.moment(p, text)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// moment reads a date or a time.
func (f *file) moment(p property, text string) (m moment, err error) {
	switch kind := strings.ToUpper(p.parameters["VALUE"]); kind {
	case "", "DATE", "DATE-TIME":
	default:
		return m, errors.New("VALUE: DATE and DATE-TIME are supported")
	}
	m.zone = f.zone
	layout, isUTC := "20060102T150405", strings.HasSuffix(text, "Z")
	switch tzid, hasZone := p.parameters["TZID"]; {
	case isUTC:
		text = strings.TrimSuffix(text, "Z")
		m.zone, err = f.zoneOf("UTC")
	case hasZone:
		m.zone, err = f.zoneOf(strings.TrimPrefix(tzid, "/"))
	}
	if len(text) == len("20060102") && !isUTC {
		// A date is a day of the calendar's zone, whatever it says.
		m.isDate, layout, m.zone, err = true, "20060102", f.zone, nil
	}
	if err != nil {
		return m, err
	}
	at, err := time.Parse(layout, text)
	if err != nil || at.Year() < minYear || at.Year() > lastYear+1 {
		return m, fmt.Errorf("a date or a time such as 20261225T180000 (%d to %d) is expected", minYear, lastYear+1)
	}
	m.wall = at.Unix()
	return m, nil
}

var durationPattern = regexp.MustCompile(`^\+?P(?:(\d{1,4})W|(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?)$`)

func parseDuration(text string) (*duration, error) {
	text = strings.ToUpper(text)
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return nil, errors.New("a duration such as P1D or PT1H30M is expected")
	}
	var n [6]int64
	for i, digits := range parts[1:] {
		n[i+1], _ = strconv.ParseInt(digits, 10, 64) // digits that fit, or empty for zero
	}
	return &duration{days: 7*n[1] + n[2], seconds: 3600*n[3] + 60*n[4] + n[5]}, nil
}

// leaveOut leaves out all events.
func (f *file) leaveOut() error {
	series := map[string][]*event{} // by UID
	for _, e := range f.events {
		if e.replaces.zone == nil {
			series[e.uid] = append(series[e.uid], e)
		}
	}
	for _, e := range f.events {
		if e.replaces.zone == nil {
			continue
		}
		for _, s := range series[e.uid] {
			s.fewer = append(s.fewer, e.replaces)
		}
	}
	for _, e := range f.events {
		if err := f.event(e); err != nil {
			return fmt.Errorf("event in line %d: %w", e.line, err)
		}
	}
	return nil
}

// event leaves out all times of an event.
func (f *file) event(e *event) error {
	switch {
	case e.begin.zone == nil:
		return errors.New("DTSTART is needed")
	case e.end.zone != nil && e.lasts != nil:
		return errors.New("DTEND or DURATION is allowed, and not both")
	case e.end.zone != nil && (e.end.isDate != e.begin.isDate || e.end.instant() < e.begin.instant()):
		return errors.New("DTEND is before DTSTART, or not of its kind")
	case e.begin.isDate && e.lasts != nil && e.lasts.seconds > 0:
		return errors.New("an event of whole days has a DURATION in days or weeks")
	case e.isOff:
		return nil
	}
	walls := map[int64]bool{e.begin.wall: true}
	if len(e.rules) > 0 {
		delete(walls, e.begin.wall) // the rules have it
	}
	for _, rule := range e.rules {
		left := maxTimes - f.times - len(walls)
		if err := rule.expand(e.begin, left, walls); err != nil {
			return err
		}
	}
	isOut := e.excluded()
	for _, wall := range slices.Sorted(maps.Keys(walls)) {
		if err := f.occur(e, moment{e.begin.zone, wall, e.begin.isDate}, isOut); err != nil {
			return err
		}
	}
	for _, m := range e.more {
		if m.isDate != e.begin.isDate {
			return errors.New("RDATE is not of the kind of DTSTART")
		}
		if err := f.occur(e, m, isOut); err != nil {
			return err
		}
	}
	return nil
}

// excluded returns which times of a series are none.
func (e *event) excluded() func(moment) bool {
	days, instants := map[int64]bool{}, map[int64]bool{}
	for _, m := range e.fewer {
		if m.isDate {
			days[m.wall] = true
		} else {
			instants[m.instant()] = true
		}
	}
	return func(m moment) bool {
		date := m.wall - ((m.wall%day)+day)%day
		return days[date] || !m.isDate && instants[m.instant()]
	}
}

// occur leaves out an event that begins at a moment.
func (f *file) occur(e *event, begin moment, isOut func(moment) bool) error {
	if isOut(begin) {
		return nil
	}
	if begin.isDate {
		days := int64(1)
		if e.end.zone != nil {
			days = (e.end.wall - e.begin.wall) / day
		} else if e.lasts != nil {
			days = e.lasts.days
		}
		return f.reader.leaveOut(f.zone.shows(begin.wall, begin.wall+days*day)...)
	}
	from := begin.instant()
	to := from
	if e.end.zone != nil {
		to += e.end.instant() - e.begin.instant()
	} else if e.lasts != nil {
		to = begin.zone.instant(begin.wall+e.lasts.days*day) + e.lasts.seconds
	}
	return f.reader.leaveOut(span{from, to})
}
