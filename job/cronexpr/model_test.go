package cronexpr_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// model reads expressions in a slower and simpler way, to compare with. It tells from the
// text whether a single time matches, and finds the next one, or the last, by trying one
// time after the other.
type model struct {
	fields []string
	loc    *time.Location
}

var weekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
var monthNames = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}

// matchesDate reports whether the date of a wall clock time matches. Wall clock times
// are written as times in UTC.
func (m model) matchesDate(wall time.Time) bool {
	year, month, dom := wall.Date()
	return year >= 1970 && year <= 2099 &&
		(len(m.fields) == 6 || anyEntry(m.fields[6], func(entry string) bool { return inRange(entry, year, 1970, 2099, nil) })) &&
		anyEntry(m.fields[4], func(entry string) bool { return inRange(entry, int(month), 1, 12, monthNames) }) &&
		(m.fields[3] == "?" || anyEntry(m.fields[3], func(entry string) bool { return matchesDayOfMonth(entry, wall, dom) })) &&
		(m.fields[5] == "?" || anyEntry(m.fields[5], func(entry string) bool { return matchesDayOfWeek(entry, wall, dom) }))
}

func (m model) matchesHour(hour int) bool     { return m.matchesNumber(2, hour, 23) }
func (m model) matchesMinute(minute int) bool { return m.matchesNumber(1, minute, 59) }
func (m model) matchesSecond(second int) bool { return m.matchesNumber(0, second, 59) }

func (m model) matchesNumber(field, n, hi int) bool {
	return anyEntry(m.fields[field], func(entry string) bool { return inRange(entry, n, 0, hi, nil) })
}

func anyEntry(field string, matches func(entry string) bool) bool {
	return slices.ContainsFunc(strings.Split(field, ","), matches)
}

// inRange reports whether n is in an entry, by counting through its range.
func inRange(entry string, n, lo, hi int, names []string) bool {
	span, step, stepped := strings.Cut(entry, "/")
	every := 1
	if stepped {
		every, _ = strconv.Atoi(step)
	}
	from, to := lo, hi
	if span != "*" && span != "" {
		first, last, ranged := strings.Cut(span, "-")
		from = valueOf(first, lo, names)
		switch {
		case ranged:
			to = valueOf(last, lo, names)
		case !stepped:
			to = from
		}
	}
	for value, count := from, 0; ; count++ {
		if value == n && count%every == 0 {
			return true
		}
		if value == to {
			return false
		}
		if value++; value > hi {
			value = lo
		}
	}
}

func valueOf(text string, lo int, names []string) int {
	if i := slices.Index(names, text); i >= 0 {
		return lo + i
	}
	n, _ := strconv.Atoi(text)
	return n
}

func matchesDayOfMonth(entry string, wall time.Time, dom int) bool {
	target := entry
	if strings.HasSuffix(entry, "W") {
		target = strings.TrimSuffix(entry, "W")
	}
	if !strings.HasPrefix(target, "L") && target == entry {
		return inRange(entry, dom, 1, 31, nil)
	}
	first := wall.AddDate(0, 0, 1-dom)
	last := first.AddDate(0, 1, -1)
	var day time.Time // the one that the entry names, before W moves it
	if rest, fromEnd := strings.CutPrefix(target, "L"); fromEnd {
		offset, _ := strconv.Atoi(strings.TrimPrefix(rest, "-"))
		day = last.AddDate(0, 0, -offset)
	} else {
		n, _ := strconv.Atoi(target)
		day = first.AddDate(0, 0, n-1)
	}
	if day.Before(first) || day.After(last) {
		return false
	}
	if target == entry {
		return wall.Equal(day)
	}
	// W means the working day of the month that is nearest to that day. Two are never
	// equally near: a Saturday is nearest to Friday, a Sunday to Monday.
	var nearest time.Time
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		if d.Weekday() != time.Saturday && d.Weekday() != time.Sunday &&
			(nearest.IsZero() || d.Sub(day).Abs() < nearest.Sub(day).Abs()) {
			nearest = d
		}
	}
	return wall.Equal(nearest)
}

func matchesDayOfWeek(entry string, wall time.Time, dom int) bool {
	weekday := int(wall.Weekday()) + 1
	if entry == "L" {
		return weekday == 7
	}
	if name, k, found := strings.Cut(entry, "#"); found {
		return weekday == valueOf(name, 1, weekdays) && strconv.Itoa((dom+6)/7) == k
	}
	if name, found := strings.CutSuffix(entry, "L"); found {
		return weekday == valueOf(name, 1, weekdays) && wall.AddDate(0, 0, 7).Month() != wall.Month()
	}
	return inRange(entry, weekday, 1, 7, weekdays)
}

// quarter is 15 minutes in seconds. All offsets, and all instants at which they change, are
// multiples of it.
const quarter = 15 * 60

// wall returns what a clock in the zone shows, as a time in UTC.
func (m model) wall(unix int64) time.Time {
	_, offset := time.Unix(unix, 0).In(m.loc).Zone()
	return time.Unix(unix+int64(offset), 0).UTC()
}

// shownAgain reports whether clocks will be put back so that they show the same again.
func (m model) shownAgain(unix int64) bool {
	wall := m.wall(unix)
	for later := int64(quarter); later <= 26*60*60; later += quarter {
		if m.wall(unix + later).Equal(wall) {
			return true
		}
	}
	return false
}

// search tries the instants from the first to the last and returns the first that matches.
// The last may be before the first.
func (m model) search(first, last int64) (int64, bool) {
	direction := int64(1)
	if last < first {
		direction = -1
	}
	// skip returns the next instant in another unit of time.
	skip := func(unix, unit int64) int64 {
		begin := unix - (unix%unit+unit)%unit
		if direction > 0 {
			return begin + unit
		}
		return begin - 1
	}
	dates := map[time.Time]bool{}
	for unix := first; (last-unix)*direction >= 0; {
		wall := m.wall(unix)
		date := wall.Truncate(24 * time.Hour)
		matches, known := dates[date]
		if !known {
			matches = m.matchesDate(date)
			dates[date] = matches
		}
		switch {
		case !matches || !m.matchesHour(wall.Hour()):
			unix = skip(unix, quarter)
		case !m.matchesMinute(wall.Minute()):
			unix = skip(unix, 60)
		case !m.matchesSecond(wall.Second()) || m.shownAgain(unix):
			unix += direction
		default:
			return unix, true
		}
	}
	return 0, false
}

// oddZones returns zones with clock changes of all kinds: by an hour, half an hour, two
// hours and a whole day, at midnight, close to each other, and none.
func oddZones(t testing.TB) []*time.Location {
	const h = time.Hour
	return []*time.Location{
		time.UTC, shanghai(), kolkata(), newYork(t), lordHowe(t),
		newZone(t, "Midnight", -3*h, "<-03>3<-02>,M10.3.0/0,M2.3.0/0", change{"1969-02-01T00:00:00Z", -3 * h}),
		newZone(t, "Troll", 0, "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", change{"1969-02-01T00:00:00Z", 0}),
		newZone(t, "Dateline", -11*h, "",
			change{"2027-12-30T11:00:00Z", 13 * h}, change{"2028-03-01T11:00:00Z", -11 * h}),
		newZone(t, "Restless", 2*h, "",
			change{"2028-02-28T22:00:00Z", 3 * h}, change{"2028-02-29T03:30:00Z", 90 * time.Minute},
			change{"2028-02-29T22:30:00Z", 5 * h}, change{"2028-03-01T00:00:00Z", 5*h + 45*time.Minute}),
	}
}

// expressions draws an expression of any kind.
var expressions = rapid.Custom(func(t *rapid.T) string {
	entry := func(field string, lo, hi int, names []string) string {
		number := func(label string) string {
			n := rapid.IntRange(lo, hi).Draw(t, field+" "+label)
			if names != nil && rapid.Bool().Draw(t, "by name") {
				return names[n-lo]
			}
			return strconv.Itoa(n)
		}
		digits := func(label string) string { return strconv.Itoa(rapid.IntRange(lo, hi).Draw(t, field+" "+label)) }
		step := func() string { return "/" + strconv.Itoa(rapid.IntRange(1, max(2, (hi-lo)/2)).Draw(t, field+" step")) }
		switch rapid.IntRange(0, 7).Draw(t, field+" form") {
		case 0, 1:
			return "*"
		case 2, 3:
			return number("value")
		case 4:
			return number("from") + "-" + number("to")
		case 5:
			return digits("from") + "-" + digits("to") + step()
		case 6:
			return digits("from") + step()
		default:
			return "*" + step()
		}
	}
	list := func(field string, draw func() string) string {
		var entries []string
		for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, field+" entries") {
			entries = append(entries, draw())
		}
		return strings.Join(entries, ",")
	}
	plain := func(field string, lo, hi int, names []string) string {
		return list(field, func() string { return entry(field, lo, hi, names) })
	}

	dom, dow := "?", "?"
	if rapid.Bool().Draw(t, "by day of month") {
		dom = list("day-of-month", func() string {
			offset := strconv.Itoa(rapid.IntRange(0, 30).Draw(t, "offset"))
			day := strconv.Itoa(rapid.IntRange(1, 31).Draw(t, "day"))
			return rapid.SampledFrom([]string{
				entry("day-of-month", 1, 31, nil), entry("day-of-month", 1, 31, nil), day + "W", "L", "LW", "L-" + offset, "L-" + offset + "W",
			}).Draw(t, "day-of-month")
		})
	} else {
		dow = list("day-of-week", func() string {
			weekday := rapid.IntRange(1, 7).Draw(t, "weekday")
			k := strconv.Itoa(rapid.IntRange(1, 5).Draw(t, "k"))
			return rapid.SampledFrom([]string{
				entry("day-of-week", 1, 7, weekdays), entry("day-of-week", 1, 7, weekdays), "L",
				weekdays[weekday-1] + "#" + k, strconv.Itoa(weekday) + "#" + k, weekdays[weekday-1] + "L", strconv.Itoa(weekday) + "L",
			}).Draw(t, "day-of-week")
		})
	}
	fields := []string{
		rapid.SampledFrom([]string{"0", "0,59", plain("second", 0, 59, nil)}).Draw(t, "second"),
		rapid.SampledFrom([]string{"0", "30", "0/15", plain("minute", 0, 59, nil)}).Draw(t, "minute"),
		rapid.SampledFrom([]string{"*", "0-3", plain("hour", 0, 23, nil)}).Draw(t, "hour"),
		dom,
		rapid.SampledFrom([]string{"*", "2,3", plain("month", 1, 12, monthNames)}).Draw(t, "month"),
		dow,
	}
	if rapid.IntRange(0, 3).Draw(t, "with year") == 0 {
		fields = append(fields, rapid.SampledFrom([]string{"2026-2029", "*/2", "1971/3", "2028", "1970,2099"}).Draw(t, "year"))
	}
	return strings.Join(fields, " ")
})

// moments draws an instant, often one close to a clock change.
var moments = rapid.Custom(func(t *rapid.T) time.Time {
	near := rapid.SampledFrom([]string{
		"2027-03-14T07:00:00Z", "2027-11-07T06:00:00Z", // New York
		"2027-04-03T15:00:00Z", "2027-10-02T15:30:00Z", // Lord Howe
		"2027-02-21T02:00:00Z", "2027-10-17T03:00:00Z", // Midnight
		"2027-03-28T01:00:00Z", "2027-10-31T01:00:00Z", // Troll
		"2027-12-30T11:00:00Z", "2028-03-01T11:00:00Z", // Dateline
		"2028-02-28T22:00:00Z", "2028-02-29T22:30:00Z", // Restless
		"2028-01-01T00:00:00Z", "2040-12-31T12:00:00Z", // leap years
		"1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z", // beginning and end
	}).Draw(t, "near")
	at, err := time.Parse(time.RFC3339, near)
	if err != nil {
		t.Fatal(err)
	}
	spread := rapid.SampledFrom([]int64{7200, 7200, 2 * 86400, 400 * 86400, 40 * 365 * 86400}).Draw(t, "spread")
	return at.Add(time.Duration(rapid.Int64Range(-spread, spread).Draw(t, "seconds"))*time.Second +
		time.Duration(rapid.SampledFrom([]int{0, 0, 1, 999_999_999}).Draw(t, "nanoseconds")))
})

func TestAgreesWithBruteForce(t *testing.T) {
	const horizon = 200 * 24 * 60 * 60
	zones := oddZones(t)
	rapid.Check(t, func(t *rapid.T) {
		expr := expressions.Draw(t, "expression")
		loc := rapid.SampledFrom(zones).Draw(t, "zone")
		at := moments.Draw(t, "time")

		s, err := cronexpr.Parse(expr, loc)
		m := model{strings.Fields(expr), loc}
		unix := at.Unix() // rounded down
		next, isNext := m.search(unix+1, unix+horizon)
		prev, isPrev := m.search(unix, unix-horizon)
		if err != nil {
			if isNext || isPrev {
				t.Fatalf("%v, but there are %v and %v", err, time.Unix(prev, 0), time.Unix(next, 0))
			}
			return
		}
		if got := s.Next(at); isNext && got.Unix() != next {
			t.Errorf("Next is %v, not %v", got, time.Unix(next, 0).In(loc))
		} else if !isNext && !got.IsZero() && got.Unix() <= unix+horizon {
			t.Errorf("Next is %v, which does not match", got)
		}
		if got := s.Prev(at); isPrev && got.Unix() != prev {
			t.Errorf("Prev is %v, not %v", got, time.Unix(prev, 0).In(loc))
		} else if !isPrev && !got.IsZero() && got.Unix() >= unix-horizon {
			t.Errorf("Prev is %v, which does not match", got)
		}
	})
}
