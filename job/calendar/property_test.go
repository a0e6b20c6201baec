package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// zones put their clocks forward and back at other hours than Berlin: at midnight, just after
// it, and by half an hour; one has skipped a whole day.
var zones = []string{"Europe/Berlin", "America/New_York", "America/Sao_Paulo", "America/St_Johns", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "UTC", "GMT+08:00"}

// entry is a part of a calendar, and how a person judges it by what the clock shows.
type entry struct {
	key, text string
	isOut     func(local time.Time) bool
}

func anyEntry(t *rapid.T) entry {
	year := rapid.IntRange(1995, 2028).Draw(t, "year")
	date := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 365).Draw(t, "day"))
	days := rapid.IntRange(0, 20).Draw(t, "days")
	number := func(t time.Time) int { y, m, d := t.Date(); return y*10000 + int(m)*100 + d }
	last := date.AddDate(0, 0, days)
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return entry{"dates", date.Format(time.DateOnly) + ".." + last.Format(time.DateOnly), func(local time.Time) bool {
			return number(date) <= number(local) && number(local) <= number(last)
		}}
	case 1:
		from, to := number(date)%10000, number(last)%10000
		return entry{"dates", date.Format("01-02") + ".." + last.Format("01-02"), func(local time.Time) bool {
			n := number(local) % 10000
			if from <= to {
				return from <= n && n <= to
			}
			return n >= from || n <= to
		}}
	case 2:
		first, number := rapid.IntRange(0, 6).Draw(t, "first"), rapid.IntRange(0, 6).Draw(t, "number")
		name := func(d int) string { return strings.ToUpper(time.Weekday(d % 7).String()[:3]) }
		return entry{"weekly", name(first) + "-" + name(first+number), func(local time.Time) bool {
			return (int(local.Weekday())-first+7)%7 <= number
		}}
	}
	from := rapid.IntRange(0, 24*60-1).Draw(t, "from")
	to := rapid.IntRange(0, 24*60).Filter(func(to int) bool { return to != from }).Draw(t, "to")
	weekday := time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday"))
	text := fmt.Sprintf("%s %02d:%02d-%02d:%02d", strings.ToUpper(weekday.String()[:3]), from/60, from%60, to/60, to%60)
	return entry{"weekly", text, func(local time.Time) bool {
		minute := local.Hour()*60 + local.Minute()
		if from < to {
			return local.Weekday() == weekday && from <= minute && minute < to
		}
		return local.Weekday() == weekday && minute >= from || local.Weekday() == (weekday+1)%7 && minute < to
	}}
}

// A calendar leaves out exactly what a person would say who looks at the clock each minute.
func TestMinuteByMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		loc, err := cronexpr.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		entries := rapid.SliceOfN(rapid.Custom(anyEntry), 1, 4).Draw(t, "entries")
		isOnly := rapid.Bool().Draw(t, "only")
		lists := map[string][]string{}
		for _, e := range entries {
			key := e.key
			if key == "weekly" && isOnly {
				key = "only"
			}
			lists[key] = append(lists[key], "'"+e.text+"'")
		}
		document := "timeZone: " + name + "\n"
		for key, list := range lists {
			document += key + ": [" + strings.Join(list, ", ") + "]\n"
		}
		c, err := calendar.Parse([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		judge := func(at time.Time) bool {
			out, inside := false, lists["only"] == nil
			for _, e := range entries {
				if is := e.isOut(at.In(loc)); isOnly && e.key == "weekly" {
					inside = inside || is
				} else {
					out = out || is
				}
			}
			return out || !inside
		}
		// Clocks are changed on days that no rule finds, so look at one in two thirds of all cases.
		at := time.Date(rapid.IntRange(1995, 2028).Draw(t, "from year"), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 365).Draw(t, "from day"))
		if rapid.IntRange(0, 2).Draw(t, "change") > 0 {
			if _, end := at.In(loc).ZoneBounds(); !end.IsZero() {
				at = end.UTC().Truncate(time.Minute).Add(-26 * time.Hour)
			}
		}
		var until time.Time
		for range 3 * 24 * 60 {
			gotUntil, out := c.Excluded(at)
			if out != judge(at) {
				t.Fatalf("%s\n%v is left out: %v", document, at.In(loc), out)
			}
			if !until.IsZero() && at.Before(until) && !gotUntil.Equal(until) {
				t.Fatalf("%s\n%v is left out until %v, and before that until %v", document, at.In(loc), gotUntil, until)
			}
			until = gotUntil
			at = at.Add(time.Minute)
		}
	})
}

// Next and Prev find what a walk over all ticks finds.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{"0 */7 * * * ?", "0 0 12 * * ?", "0 30 2 * * ?", "0 0 0 1 * ?", "@every 13m"}).Draw(t, "cron")
		all, err := cronexpr.Parse(expr, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		var calendars []*calendar.Calendar
		for range rapid.IntRange(0, 3).Draw(t, "calendars") {
			e := anyEntry(t)
			c, err := calendar.Parse(fmt.Appendf(nil, "timeZone: %s\n%s: ['%s']", rapid.SampledFrom(zones).Draw(t, "zone"), e.key, e.text))
			if err != nil {
				t.Fatal(err)
			}
			calendars = append(calendars, c)
		}
		isOut := func(at time.Time) bool {
			for _, c := range calendars {
				if _, out := c.Excluded(at); out {
					return true
				}
			}
			return false
		}
		s := calendar.Without(all, calendars...)
		at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 28*365*24*3600).Draw(t, "at")) * time.Second)
		next := all.Next(at)
		for !next.IsZero() && isOut(next) {
			next = all.Next(next)
		}
		if got := s.Next(at); !got.Equal(next) {
			t.Fatalf("next of %v is %v, want %v", at, got, next)
		}
		prev := all.Prev(at)
		for !prev.IsZero() && isOut(prev) {
			prev = all.Prev(prev.Add(-time.Second))
		}
		if got := s.Prev(at); !got.Equal(prev) {
			t.Fatalf("prev of %v is %v, want %v", at, got, prev)
		}
	})
}

// If everything is left out there is no tick.
func TestEverythingIsLeftOut(t *testing.T) {
	all, err := cronexpr.Parse("* * * * * ?", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	s := calendar.Without(all, parse(t, "weekly: [MON-SUN]"))
	if next, prev := s.Next(time.Now()), s.Prev(time.Now()); !next.IsZero() || !prev.IsZero() {
		t.Errorf("ticks %v and %v", prev, next)
	}
}
