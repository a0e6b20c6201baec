package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// window is a part of some days of the week.
type window struct {
	days     [7]bool // by time.Weekday
	from, to int64   // seconds after 00:00; to may be on the next day
}

// weekly reads windows that are left out.
func (r *reader) weekly(list *yaml.Node) error {
	return each(list, maxWindows, func(text string) error {
		w, err := parseWindow(text)
		if err != nil {
			return err
		}
		return r.everyWeek(w)
	})
}

// only reads windows, and leaves out all other times.
func (r *reader) only(list *yaml.Node) error {
	inside := &reader{zone: r.zone, times: r.times}
	if err := inside.weekly(list); err != nil {
		return err
	}
	if list == nil || len(list.Content) == 0 {
		return nil
	}
	r.times = inside.times
	r.spans = append(r.spans, complement(merge(inside.spans))...)
	return nil
}

func (r *reader) everyWeek(w window) error {
	for date := int64(longAgo); date < farAhead; date += day {
		if !w.days[time.Unix(date, 0).UTC().Weekday()] {
			continue
		}
		if err := r.leaveOut(r.zone.shows(date+w.from, date+w.to)...); err != nil {
			return err
		}
	}
	return nil
}

var errWindow = errors.New("days such as SAT,SUN or MON-FRI, hours such as 18:00-08:00, or both with a space between them, are allowed")

func parseWindow(text string) (w window, err error) {
	fields := strings.Fields(text)
	hours := fields[len(fields)-1]
	switch hasHours := strings.Contains(hours, ":"); {
	case len(fields) == 1 && hasHours:
		w.days = [7]bool{true, true, true, true, true, true, true}
	case len(fields) == 1 && !hasHours, len(fields) == 2 && hasHours:
		if err := w.parseDays(fields[0]); err != nil {
			return w, err
		}
	default:
		return w, errWindow
	}
	if len(fields) == 1 && !strings.Contains(hours, ":") {
		w.to = day
		return w, nil
	}
	from, to, ok := strings.Cut(hours, "-")
	if !ok {
		return w, errWindow
	}
	if w.from, err = parseHour(from); err != nil {
		return w, err
	}
	if w.to, err = parseHour(to); err != nil {
		return w, err
	}
	switch {
	case w.from == day:
		return w, errors.New("a window may end at 24:00, and begins at 00:00")
	case w.from == w.to:
		return w, errors.New("the window is empty; without hours it is the whole day")
	case w.to < w.from:
		w.to += day
	}
	return w, nil
}

// parseDays reads names of days and ranges of them.
func (w *window) parseDays(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, to := weekday(first), weekday(last)
		if from < 0 || to < 0 {
			return errWindow
		}
		for d := from; ; d = (d + 1) % 7 {
			w.days[d] = true
			if d == to {
				break
			}
		}
	}
	return nil
}

// weekday returns the number of a day, or -1.
func weekday(name string) int {
	return slices.Index([]string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}, strings.ToUpper(name))
}

// parseHour reads hh:mm, in seconds after 00:00.
func parseHour(text string) (int64, error) {
	if text == "24:00" {
		return day, nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("hh:mm") {
		return 0, fmt.Errorf("%q: hours and minutes, 00:00 to 24:00, are allowed", text)
	}
	return int64(t.Hour()*3600 + t.Minute()*60), nil
}
