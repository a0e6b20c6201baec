package cronexpr

import (
	"fmt"
	"math/bits"
)

// Language is one in which Explain says what an expression means.
type Language int

// The languages.
const (
	English Language = iota + 1
	Chinese
)

// Explain says in words when the schedule ticks: "at 03:00 on the last weekday of every month". It
// is in English if the language is not known. The words are exact, and the same for all ways to
// write an expression. A weekday is one from Monday to Friday, and of the same month; where a month
// does not have a day that is named, nothing ticks. Minutes of an hour, and seconds of a minute, are
// counted from 0. The zone is not said: see [Schedule.Location].
func (s *Schedule) Explain(in Language) string {
	if in == Chinese {
		return chinese(s)
	}
	return english(s)
}

const (
	// fewTimes is how many times of day are named in any case, and manyTimes how many if they are
	// not at equal distances.
	fewTimes  = 3
	manyTimes = 6
	// manyNumbers is how many numbers are listed if they are at equal distances.
	manyNumbers = 6
)

// timing is how the times of day of a clock are said. If it has neither at nor every, they are said
// field by field.
type timing struct {
	at                 []string // all of them
	every, first, last int      // or the distance between any two, in seconds
	allDay             bool     // every is from midnight to midnight
}

func (c clock) timing() timing {
	count := bits.OnesCount64(uint64(c.seconds)) * bits.OnesCount64(uint64(c.minutes)) * bits.OnesCount64(uint64(c.hours))
	if count > fewTimes {
		if t := c.run(); t.every > 0 && (t.allDay || !c.allHours()) {
			return t
		}
	}
	var t timing
	if count <= manyTimes {
		for at := c.next(0); at >= 0; at = c.next(at + 1) {
			t.at = append(t.at, c.show(at))
		}
	}
	return t
}

// run returns a timing with every if all times are at equal distances. There are two at least.
func (c clock) run() timing {
	t := timing{first: c.next(0), last: c.prev(secondsPerDay - 1)}
	t.every = c.next(t.first+1) - t.first
	for at := t.first; at != t.last; at += t.every {
		if c.next(at+1) != at+t.every {
			return timing{}
		}
	}
	t.allDay = t.first == 0 && t.last+t.every == secondsPerDay
	return t
}

func (c clock) allHours() bool { return c.hours == setOf(0, 23) }

// show writes a time of day, with its second if seconds matter.
func (c clock) show(at int) string {
	text := fmt.Sprintf("%02d:%02d", at/3600, at/60%60)
	if !c.inMinutes() {
		text += fmt.Sprintf(":%02d", at%60)
	}
	return text
}

// inMinutes reports whether all times are whole minutes.
func (c clock) inMinutes() bool { return c.seconds == setOf(0, 0) }

// evenly returns the distance if a set has 0, and then one number after the other at that distance,
// also from the last one to size; otherwise 0.
func evenly(s set, size int) int {
	step := stepOf(members(s))
	if step > 0 && s.first() == 0 && s.last()+step == size {
		return step
	}
	return 0
}

// span is a run of numbers with none left out.
type span struct{ from, to int }

// spans cuts numbers into runs of three or more, and others one by one.
func spans(numbers []int) []span {
	var list []span
	for from := 0; from < len(numbers); {
		to := from
		for to+1 < len(numbers) && numbers[to+1] == numbers[to]+1 {
			to++
		}
		if to-from < 2 {
			to = from
		}
		list = append(list, span{numbers[from], numbers[to]})
		from = to + 1
	}
	return list
}

// longStep returns the distance of numbers if they are better said by it than one by one, and 0 if not.
func longStep(numbers []int) int {
	if step := stepOf(numbers); step > 1 && len(numbers) > manyNumbers {
		return step
	}
	return 0
}

// isRelative reports whether days are counted in their month.
func (d *days) isRelative() bool {
	return !d.isEvery() && *d != days{ofWeek: d.ofWeek}
}

// isEvery reports whether all days count.
func (d *days) isEvery() bool { return d.ofMonth == setOf(1, 31) }

// fromMonday returns days of the week in the order of a week that begins on Monday: 0 is Monday.
func fromMonday(ofWeek set) []int {
	var s set
	for _, n := range members(ofWeek) {
		s.add((n + 5) % 7)
	}
	return members(s)
}

// isEvery reports whether no year is left out.
func (s *yearSet) isEvery() bool { return len(s.members()) == maxYear-minYear+1 }

// whole returns a duration in the largest unit in which it is a whole number: 3600, 60 or 1.
func whole(seconds int64) (n, unit int64) {
	for _, unit := range []int64{3600, 60} {
		if seconds%unit == 0 {
			return seconds / unit, unit
		}
	}
	return seconds, 1
}
