package calendar_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// Whatever somebody writes, reading it ends soon, and without a panic. What is read can be
// asked, and read again.
func FuzzParse(f *testing.F) {
	f.Add("timeZone: Europe/Berlin\ndates: [2026-12-24..2026-12-26, 02-29, 12-31..01-01]\nweekly: ['SAT,SUN', 'MON-FRI 18:00-08:00']\nonly: ['FRI-MON']\n")
	f.Add("timeZone: GMT+08:00\nicalendar: |\n  BEGIN:VCALENDAR\n  BEGIN:VEVENT\n  DTSTART:20260101T000000Z\n  DURATION:PT1H\n  RRULE:FREQ=DAILY;COUNT=3\n  END:VEVENT\n  END:VCALENDAR\n")
	f.Fuzz(func(t *testing.T, document string) { check(t, document) })
}

// FuzzICalendar is FuzzParse for what stands in one event.
func FuzzICalendar(f *testing.F) {
	for _, event := range []string{
		"DTSTART;VALUE=DATE:20200131\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1;INTERVAL=2;WKST=SU;BYSETPOS=1",
		"DTSTART;TZID=Europe/Berlin:20261224T180000\nDTEND:20261224T200000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=53,-1;BYDAY=1MO,-2TU;UNTIL=20301231T000000Z",
		"DTSTART:19000101T000000\nDURATION:P1DT2H\nRRULE:FREQ=WEEKLY;BYHOUR=1,2;BYMINUTE=0\nRDATE:20260101T000000\nEXDATE:19000101T000000\nSTATUS:CONFIRMED",
		"DTSTART;VALUE=DATE:20260230\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYYEARDAY=-366\nRECURRENCE-ID:20260101T000000Z\nUID:a",
	} {
		f.Add(event)
	}
	f.Fuzz(func(t *testing.T, event string) {
		c, err := calendar.FromICalendar("America/St_Johns", []byte(events(event)))
		if err == nil {
			check(t, string(c.Document()))
		}
	})
}

func check(t *testing.T, document string) {
	begun := time.Now()
	c, err := calendar.Parse([]byte(document))
	if took := time.Since(begun); took > 20*time.Second {
		t.Fatalf("took %v", took)
	}
	if err != nil {
		if c != nil || len(err.Error()) > 1000 {
			t.Errorf("%v, error of %d bytes", c, len(err.Error()))
		}
		return
	}
	for at, n := time.Unix(0, 0), 0; n < 10; n++ {
		until, out := c.Excluded(at)
		if out && until.IsZero() {
			break
		}
		if out && !until.After(at) {
			t.Fatalf("%v is left out until %v", at, until)
		}
		if at = at.Add(1000 * time.Hour); out {
			at = until
		}
	}
}
