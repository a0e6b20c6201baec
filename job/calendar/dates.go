package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// dates reads days and ranges of days.
func (r *reader) dates(list *yaml.Node) error {
	return each(list, maxDates, func(text string) error {
		first, last, isRange := strings.Cut(text, "..")
		if !isRange {
			last = first
		}
		from, isYearly, err := parseDate(first)
		if err != nil {
			return err
		}
		to, isAlsoYearly, err := parseDate(last)
		switch {
		case err != nil:
			return err
		case isYearly != isAlsoYearly:
			return errors.New("both days with a year, or both without one, are allowed")
		case isYearly:
			return r.everyYear(from, to)
		case to.Before(from):
			return errors.New("the last day is before the first")
		}
		return r.leaveOut(r.zone.shows(from.Unix(), to.Unix()+day)...)
	})
}

// parseDate reads a day. One without a year is returned in a leap year.
func parseDate(text string) (date time.Time, isYearly bool, err error) {
	const leap = "2000-"
	isYearly = strings.Count(text, "-") == 1
	if isYearly {
		text = leap + text
	}
	date, err = time.Parse(time.DateOnly, text)
	if err != nil || date.Year() < firstYear || date.Year() > lastYear {
		return date, isYearly, fmt.Errorf("a day such as 2026-12-25 (%d to %d) or 12-25, or first..last, is allowed", firstYear, lastYear)
	}
	return date, isYearly, nil
}

// everyYear leaves out the days from one to another of each year. In a year without a
// February 29 that day is none.
func (r *reader) everyYear(first, last time.Time) error {
	over := 0
	if last.Before(first) {
		over = 1
	}
	for year := firstYear - 1; year <= lastYear; year++ {
		from := wallOf(year, first.Month(), first.Day())
		end := min(wallOf(year+over, last.Month(), last.Day()+1), wallOf(year+over, last.Month()+1, 1))
		if err := r.leaveOut(r.zone.shows(from, end)...); err != nil {
			return err
		}
	}
	return nil
}
