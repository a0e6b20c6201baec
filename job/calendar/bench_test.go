package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// Next of a schedule of every second, over a year that is left out.
func BenchmarkNextOverAYear(b *testing.B) {
	all, err := cronexpr.Parse("* * * * * ?", time.UTC)
	if err != nil {
		b.Fatal(err)
	}
	s := calendar.Without(all, parse(b, "dates: [2027-01-01..2027-12-31]\nweekly: ['SAT,SUN', '18:00-08:00']"))
	at := time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		s.Next(at)
	}
}

// Next of a schedule whose ticks are all left out, one by one: the worst that there is.
func BenchmarkNextThatNeverComes(b *testing.B) {
	all, err := cronexpr.Parse("0 0 12 * * ?", time.UTC)
	if err != nil {
		b.Fatal(err)
	}
	s := calendar.Without(all, parse(b, "weekly: ['11:00-15:00']"))
	for b.Loop() {
		s.Next(time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC))
	}
}

func BenchmarkParse(b *testing.B) {
	for name, document := range map[string]string{
		"dates":                  "dates: [2026-12-25, 05-01]",
		"windows":                "weekly: ['SAT,SUN', 'MON-FRI 18:00-08:00']",
		"1000 events":            "icalendar: |\n  " + strings.ReplaceAll(events(many(1000, "DTSTART;VALUE=DATE:20260101")...), "\r\n", "\n  "),
		"300 rules without days": "icalendar: |\n  " + strings.ReplaceAll(events(many(300, "DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")...), "\r\n", "\n  "),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := calendar.Parse([]byte("timeZone: Europe/Berlin\n" + document)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func many(n int, event string) (list []string) {
	for range n {
		list = append(list, event)
	}
	return list
}
