package cronexpr

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// english says in English when a schedule ticks.
func english(s *Schedule) string {
	if s.every > 0 {
		return englishEvery(s.every) + ", counted from 1970-01-01 00:00 UTC"
	}
	p := &s.pattern
	text, allDay := englishTime(p.clock)
	preposition := " in "
	switch {
	case !p.days.isEvery():
		text += " on " + englishDays(&p.days)
		if p.days.isRelative() {
			preposition = " of "
		}
	case strings.HasPrefix(text, "every ") && !allDay:
		text += ", every day"
	case !allDay:
		text += " every day"
	}
	switch {
	case p.months != setOf(1, 12):
		text += preposition + englishList(members(p.months), englishMonth)
	case p.days.isRelative():
		text += " of every month"
	}
	if !p.years.isEvery() {
		text += ", in " + englishNumbers(p.years.members(), "the year", "every %s year")
	}
	return text
}

// englishTime says the times of day, and whether all hours have some.
func englishTime(c clock) (text string, allDay bool) {
	t := c.timing()
	switch {
	case t.at != nil:
		return "at " + englishAnd(t.at), false
	case t.allDay:
		return englishEvery(int64(t.every)), true
	case t.every > 0:
		return fmt.Sprintf("%s from %s to %s", englishEvery(int64(t.every)), c.show(t.first), c.show(t.last)), false
	}
	hours, minutes := "every hour", ""
	if !c.allHours() {
		hours = englishNumbers(members(c.hours), "hour", "every %s hour")
	}
	if c.inMinutes() {
		return englishParts(c.minutes, "minute") + " of " + hours, c.allHours()
	}
	switch c.minutes {
	case setOf(0, 59):
		if minutes = "every minute"; c.allHours() {
			return englishParts(c.seconds, "second") + " of " + minutes, true
		}
	default:
		minutes = englishNumbers(members(c.minutes), "minute", "every %s minute")
	}
	return englishParts(c.seconds, "second") + " of " + minutes + " of " + hours, c.allHours()
}

// englishParts says which minutes of an hour, or seconds of a minute.
func englishParts(s set, unit string) string {
	if s == setOf(0, 59) {
		return "every " + unit
	}
	if step := evenly(s, 60); step > 0 {
		return fmt.Sprintf("every %d %ss", step, unit)
	}
	return "at " + englishNumbers(members(s), unit, "every %s "+unit)
}

// englishNumbers says numbers: "hour 9", "hours 9, 11 and 13 to 17", or in the words of steps
// "every 2nd hour from 0 to 22".
func englishNumbers(numbers []int, unit, steps string) string {
	if step := longStep(numbers); step > 0 {
		return fmt.Sprintf(steps+" from %d to %d", ordinal(step), numbers[0], numbers[len(numbers)-1])
	}
	if len(numbers) > 1 {
		unit += "s"
	}
	return unit + " " + englishList(numbers, strconv.Itoa)
}

// englishList says numbers one by one, or as ranges.
func englishList(numbers []int, name func(int) string) string {
	return englishAnd(englishSpans(numbers, name))
}

func englishSpans(numbers []int, name func(int) string) (list []string) {
	for _, s := range spans(numbers) {
		text := name(s.from)
		if s.to != s.from {
			text += " to " + name(s.to)
		}
		list = append(list, text)
	}
	return list
}

func englishDays(d *days) string {
	var list []string
	if ofMonth := members(d.ofMonth); longStep(ofMonth) > 0 {
		list = append(list, fmt.Sprintf("every %s day from %s to %s", ordinal(longStep(ofMonth)), theDay(ofMonth[0]), theDay(ofMonth[len(ofMonth)-1])))
	} else {
		list = englishSpans(ofMonth, theDay)
	}
	for _, n := range members(d.nearest) {
		list = append(list, "the weekday nearest to "+theDay(n))
	}
	for _, n := range members(d.fromEnd) {
		list = append(list, theDayFromEnd(n))
	}
	for _, n := range members(d.nearestFromEnd) {
		text := "the last weekday"
		if n > 0 {
			text = "the weekday nearest to " + theDayFromEnd(n)
		}
		list = append(list, text)
	}
	list = append(list, englishSpans(fromMonday(d.ofWeek), func(n int) string { return time.Weekday((n+1)%7).String() + "s" })...)
	for _, n := range members(d.nthOfWeek) {
		list = append(list, fmt.Sprintf("the %s %v", ordinal(n/7+1), time.Weekday(n%7)))
	}
	for _, n := range members(d.lastOfWeek) {
		list = append(list, fmt.Sprintf("the last %v", time.Weekday(n-1)))
	}
	return englishAnd(list)
}

func theDay(n int) string { return "the " + ordinal(n) }

func theDayFromEnd(n int) string {
	switch n {
	case 0:
		return "the last day"
	case 1:
		return "the day before the last one"
	}
	return fmt.Sprintf("the %s day before the last one", ordinal(n))
}

func englishMonth(n int) string { return time.Month(n).String() }

func englishEvery(seconds int64) string {
	n, unit := whole(seconds)
	name := map[int64]string{3600: "hour", 60: "minute", 1: "second"}[unit]
	if n == 1 {
		return "every " + name
	}
	return fmt.Sprintf("every %d %ss", n, name)
}

func englishAnd(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// ordinal returns 1st for 1.
func ordinal(n int) string {
	ending := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.Itoa(n) + ending
}
