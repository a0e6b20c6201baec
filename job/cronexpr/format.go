package cronexpr

import (
	"strconv"
	"strings"
	"time"
)

// String returns the expression in one form for all ways to write it. Parse reads
// that back into an equal schedule. It is in upper case, with one blank between
// fields, names for days of the week, numbers for months, values in ascending order,
// ranges and steps where they are shorter, and a year only if not every year counts.
// The zone is not part of it. Six fields cannot say the days of either day field: of such an
// expression it returns five.
func (s *Schedule) String() string {
	if s.every > 0 {
		return "@every " + (time.Duration(s.every) * time.Second).String()
	}
	p := &s.pattern
	if p.days.areEither() {
		return p.unix()
	}
	dom, dow := "?", "?"
	if p.ofWeek|p.nthOfWeek|p.lastOfWeek != 0 {
		dow = p.daysOfWeek()
	} else {
		dom = p.daysOfMonth()
	}
	text := strings.Join([]string{
		list(second, members(p.seconds)), list(minute, members(p.minutes)), list(hour, members(p.hours)),
		dom, list(month, members(p.months)), dow,
	}, " ")
	if years := list(year, p.years.members()); years != "*" {
		text += " " + years
	}
	return text
}

func (d *days) daysOfMonth() string {
	var parts []string
	if d.ofMonth != 0 {
		parts = append(parts, list(dayOfMonth, members(d.ofMonth)))
	}
	for _, n := range members(d.nearest) {
		parts = append(parts, strconv.Itoa(n)+"W")
	}
	for _, n := range members(d.fromEnd) {
		parts = append(parts, fromEnd(n))
	}
	for _, n := range members(d.nearestFromEnd) {
		parts = append(parts, fromEnd(n)+"W")
	}
	return strings.Join(parts, ",")
}

func fromEnd(n int) string {
	if n == 0 {
		return "L"
	}
	return "L-" + strconv.Itoa(n)
}

func (d *days) daysOfWeek() string {
	var parts []string
	if d.ofWeek != 0 {
		parts = append(parts, list(dayOfWeek, members(d.ofWeek)))
	}
	for _, n := range members(d.nthOfWeek) {
		parts = append(parts, show(dayOfWeek, n%7+1)+"#"+strconv.Itoa(n/7+1))
	}
	for _, n := range members(d.lastOfWeek) {
		parts = append(parts, show(dayOfWeek, n)+"L")
	}
	return strings.Join(parts, ",")
}

// list writes the members of a field: * if it has all values, a step if they are at
// equal distances, otherwise a list of ranges.
func list(field int, members []int) string {
	f := fields[field]
	first, last := members[0], members[len(members)-1]
	if len(members) == f.max-f.min+1 {
		return "*"
	}
	if step := stepOf(members); step > 1 && field != dayOfWeek { // a step cannot follow a name
		switch {
		case last+step <= f.max:
			return show(field, first) + "-" + show(field, last) + "/" + strconv.Itoa(step)
		case first == f.min:
			return "*/" + strconv.Itoa(step)
		}
		return show(field, first) + "/" + strconv.Itoa(step)
	}

	ranges := rangesOf(members)
	// A range may run through the end of the field: 22-2 for 0-2,22-23.
	if i := len(ranges) - 1; i > 0 && first == f.min && last == f.max && field != year {
		ranges[i][1] = ranges[0][1]
		ranges = ranges[1:]
	}
	return showRanges(field, ranges)
}

// unix writes a pattern of five fields in a form that Unix cron and robfig/cron read alike: ranges do not
// go through the end of a field, a step follows a range, and no * is in a day field that has not all days.
func (p *pattern) unix() string {
	dom, dow := "*", "*"
	if p.ofMonth != 0 {
		dom = unixList(dayOfMonth, members(p.ofMonth))
	}
	if p.ofWeek != 0 {
		dow = unixList(dayOfWeek, members(p.ofWeek))
	}
	return strings.Join([]string{
		unixList(minute, members(p.minutes)), unixList(hour, members(p.hours)), dom, unixList(month, members(p.months)), dow,
	}, " ")
}

// unixList writes the members of a field as Unix cron reads them.
func unixList(field int, members []int) string {
	f := fields[field]
	first, last := members[0], members[len(members)-1]
	step := stepOf(members)
	switch {
	case len(members) == f.max-f.min+1:
		return "*"
	case step > 1 && first == f.min && last+step > f.max && field != dayOfMonth && field != dayOfWeek:
		return "*/" + strconv.Itoa(step)
	case step > 1 && field != dayOfWeek:
		return show(field, first) + "-" + show(field, last) + "/" + strconv.Itoa(step)
	}
	return showRanges(field, rangesOf(members))
}

// rangesOf returns the first and last numbers of runs with none left out.
func rangesOf(members []int) [][2]int {
	var ranges [][2]int
	for _, n := range members {
		if i := len(ranges) - 1; i >= 0 && ranges[i][1] == n-1 {
			ranges[i][1] = n
		} else {
			ranges = append(ranges, [2]int{n, n})
		}
	}
	return ranges
}

func showRanges(field int, ranges [][2]int) string {
	parts := make([]string, len(ranges))
	for i, r := range ranges {
		parts[i] = show(field, r[0])
		if r[0] != r[1] {
			parts[i] += "-" + show(field, r[1])
		}
	}
	return strings.Join(parts, ",")
}

// stepOf returns the distance between members if there are at least three and all are
// equally far apart, else 0.
func stepOf(members []int) int {
	if len(members) < 3 {
		return 0
	}
	step := members[1] - members[0]
	for i := 2; i < len(members); i++ {
		if members[i]-members[i-1] != step {
			return 0
		}
	}
	return step
}

func show(field, n int) string {
	if field == dayOfWeek {
		return fields[field].names[n-1]
	}
	return strconv.Itoa(n)
}

func members(s set) []int {
	var all []int
	for i := s.next(0); i >= 0; i = s.next(i + 1) {
		all = append(all, i)
	}
	return all
}

func (s *yearSet) members() []int {
	var all []int
	for y := s.next(minYear); y >= 0; y = s.next(y + 1) {
		all = append(all, y)
	}
	return all
}
