package cronexpr

import "time"

// pattern is the set of wall clock times, to the second and with no zone, that the
// fields of an expression describe. A wall clock time, or wall for short, is counted in
// seconds from 1970-01-01T00:00:00, as if it were in UTC. A pattern is searched field by
// field, so a search costs the same however far apart its times are.
type pattern struct {
	clock
	days
	months set
	years  yearSet
}

// add puts a value of a field into the set for that field.
func (p *pattern) add(field, value int) {
	switch field {
	case second:
		p.seconds.add(value)
	case minute:
		p.minutes.add(value)
	case hour:
		p.hours.add(value)
	case dayOfMonth:
		p.ofMonth.add(value)
	case month:
		p.months.add(value)
	case dayOfWeek:
		p.ofWeek.add(value)
	case year:
		p.years.add(value)
	}
}

// addRange puts every step-th value of a range into the set for that field. If to is less
// than from, the range goes on from the least value of the field.
func (p *pattern) addRange(field, from, to, step int) {
	f := &fields[field]
	size := f.max - f.min + 1
	if to < from {
		to += size
	}
	for value := from; value <= to; value += step {
		if value > f.max {
			p.add(field, value-size)
		} else {
			p.add(field, value)
		}
	}
}

const (
	secondsPerDay = 24 * 60 * 60

	minWall = 0          // 1970-01-01T00:00:00
	maxWall = 4102444799 // 2099-12-31T23:59:59
)

// next returns the first wall of the pattern that is not before w.
func (p *pattern) next(w int64) (int64, bool) {
	w = max(w, minWall)
	if w > maxWall {
		return 0, false
	}
	today, second := w/secondsPerDay, int(w%secondsPerDay)
	year, month, dom := civil(today)
	date, ok := p.nextDate(year, month, dom)
	if ok && date == today {
		if second = p.clock.next(second); second >= 0 {
			return today*secondsPerDay + int64(second), true
		}
		date, ok = p.nextDate(year, month, dom+1)
	}
	return date*secondsPerDay + int64(p.clock.next(0)), ok
}

// prev returns the last wall of the pattern that is not after w.
func (p *pattern) prev(w int64) (int64, bool) {
	w = min(w, maxWall)
	if w < minWall {
		return 0, false
	}
	today, second := w/secondsPerDay, int(w%secondsPerDay)
	year, month, dom := civil(today)
	date, ok := p.prevDate(year, month, dom)
	if ok && date == today {
		if second = p.clock.prev(second); second >= 0 {
			return today*secondsPerDay + int64(second), true
		}
		date, ok = p.prevDate(year, month, dom-1)
	}
	return date*secondsPerDay + int64(p.clock.prev(secondsPerDay-1)), ok
}

// nextDate returns the first date of the pattern from the given one on. The day may be
// one past the month's end.
func (p *pattern) nextDate(year, month, dom int) (int64, bool) {
	for y := p.years.next(year); y >= 0; y = p.years.next(y + 1) {
		from := 1
		if y == year {
			from = month
		}
		for m := p.months.next(from); m >= 0; m = p.months.next(m + 1) {
			from := 1
			if y == year && m == month {
				from = dom
			}
			if d := p.days.in(y, m).next(from); d >= 0 {
				return dateOf(y, m, d), true
			}
		}
	}
	return 0, false
}

// prevDate returns the last date of the pattern up to the given one. The day may be 0.
func (p *pattern) prevDate(year, month, dom int) (int64, bool) {
	for y := p.years.prev(year); y >= 0; y = p.years.prev(y - 1) {
		to := 12
		if y == year {
			to = month
		}
		for m := p.months.prev(to); m >= 0; m = p.months.prev(m - 1) {
			to := 31
			if y == year && m == month {
				to = dom
			}
			if d := p.days.in(y, m).prev(to); d >= 0 {
				return dateOf(y, m, d), true
			}
		}
	}
	return 0, false
}

// clock is the set of times of day: every combination of its members.
type clock struct {
	seconds, minutes, hours set
}

// next is the first second of the day in the clock that is not before second, or -1.
func (c clock) next(second int) int {
	h, m, s := second/3600, second/60%60, second%60
	if c.hours.has(h) {
		if c.minutes.has(m) {
			if s = c.seconds.next(s); s >= 0 {
				return h*3600 + m*60 + s
			}
		}
		if m = c.minutes.next(m + 1); m >= 0 {
			return h*3600 + m*60 + c.seconds.first()
		}
	}
	if h = c.hours.next(h + 1); h >= 0 {
		return h*3600 + c.minutes.first()*60 + c.seconds.first()
	}
	return -1
}

// prev is the last second of the day in the clock that is not after second, or -1.
func (c clock) prev(second int) int {
	h, m, s := second/3600, second/60%60, second%60
	if c.hours.has(h) {
		if c.minutes.has(m) {
			if s = c.seconds.prev(s); s >= 0 {
				return h*3600 + m*60 + s
			}
		}
		if m = c.minutes.prev(m - 1); m >= 0 {
			return h*3600 + m*60 + c.seconds.last()
		}
	}
	if h = c.hours.prev(h - 1); h >= 0 {
		return h*3600 + c.minutes.last()*60 + c.seconds.last()
	}
	return -1
}

// days is the set of days that the two day fields describe: the union of its members.
// An expression of Quartz fills either those for days of the month or those for days of the week;
// one of five fields may fill ofMonth and ofWeek.
type days struct {
	ofMonth        set // 1-31
	nearest        set // nW: 1-31
	fromEnd        set // L-n: 0-30, 0 is L itself
	nearestFromEnd set // L-nW: 0-30, 0 is LW
	ofWeek         set // 1-7, 1 is Sunday
	nthOfWeek      set // n#k: see nth
	lastOfWeek     set // nL: 1-7
}

// nth is the member of days.nthOfWeek that stands for the k-th such weekday.
func nth(weekday, k int) int { return (k-1)*7 + weekday - 1 }

// in returns the days of one month, as a set of 1 to 31.
func (d *days) in(year, month int) set {
	length := monthLength(year, month)
	result := d.ofMonth
	if d.nearest|d.fromEnd|d.nearestFromEnd != 0 {
		first := firstWeekday(year, month)
		for i := d.nearest.next(1); i >= 0 && i <= length; i = d.nearest.next(i + 1) {
			result.add(nearestWorkday(i, first, length))
		}
		for i := d.fromEnd.next(0); i >= 0 && i < length; i = d.fromEnd.next(i + 1) {
			result.add(length - i)
		}
		for i := d.nearestFromEnd.next(0); i >= 0 && i < length; i = d.nearestFromEnd.next(i + 1) {
			result.add(nearestWorkday(length-i, first, length))
		}
	}
	if d.ofWeek|d.nthOfWeek|d.lastOfWeek != 0 {
		first := firstWeekday(year, month)
		const weekly = 1<<1 | 1<<8 | 1<<15 | 1<<22 | 1<<29
		for i := d.ofWeek.next(1); i >= 0; i = d.ofWeek.next(i + 1) {
			result |= weekly << mod7(i-first)
		}
		for i := d.nthOfWeek.next(0); i >= 0; i = d.nthOfWeek.next(i + 1) {
			result.add(1 + mod7(i%7+1-first) + i/7*7)
		}
		for i := d.lastOfWeek.next(1); i >= 0; i = d.lastOfWeek.next(i + 1) {
			result.add(length - mod7(first+length-1-i))
		}
	}
	return result & setOf(1, length)
}

// nearestWorkday returns the day from Monday to Friday that is nearest to dom in the
// same month. The month begins on weekday first, where 1 is Sunday.
func nearestWorkday(dom, first, length int) int {
	switch (first + dom - 2) % 7 {
	case 6: // Saturday
		if dom == 1 {
			return 3
		}
		return dom - 1
	case 0: // Sunday
		if dom == length {
			return dom - 2
		}
		return dom + 1
	}
	return dom
}

// mod7 is n mod 7 for n of at least -7.
func mod7(n int) int { return (n + 7) % 7 }

// civil returns the date that is so many days after 1970-01-01.
func civil(date int64) (year, month, dom int) {
	y, m, d := time.Unix(date*secondsPerDay, 0).UTC().Date()
	return y, int(m), d
}

func dateOf(year, month, dom int) int64 {
	return time.Date(year, time.Month(month), dom, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}

// firstWeekday returns the weekday of the first of the month, where 1 is Sunday.
func firstWeekday(year, month int) int {
	if month < 3 { // count years from March, so that the leap day comes last
		year--
	}
	shift := [...]int{1, 4, 3, 6, 1, 4, 6, 2, 5, 0, 3, 5}[month-1]
	return (year+year/4-year/100+year/400+shift)%7 + 1
}

func monthLength(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4, month == 6, month == 9, month == 11:
		return 30
	}
	return 31
}
