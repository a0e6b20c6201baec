package calendar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// events returns a file with events; each is a list of lines.
func events(events ...string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n")
	for _, e := range events {
		b.WriteString("BEGIN:VEVENT\r\nSUMMARY:a; very\\, long\r\n  text: with BEGIN:VEVENT in it\r\n" + strings.ReplaceAll(strings.TrimSpace(e), "\n", "\r\n") + "\r\nEND:VEVENT\r\n")
	}
	return b.String() + "END:VCALENDAR\r\n"
}

func TestEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		file     string
		from, to string
		want     []string
	}{
		"a day":             {events("DTSTART;VALUE=DATE:20261225"), "2026-12-01", "2027-01-31", []string{"26-12-25 00:00 to 26-12-26 00:00"}},
		"days":              {events("DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227"), "2026-12-01", "2027-01-31", []string{"26-12-24 00:00 to 26-12-27 00:00"}},
		"days by duration":  {events("DTSTART;VALUE=DATE:20261224\nDURATION:P1W"), "2026-12-01", "2027-01-31", []string{"26-12-24 00:00 to 26-12-31 00:00"}},
		"in the zone":       {events("DTSTART:20261224T180000\nDTEND:20261224T200000"), "2026-12-01", "2027-01-31", []string{"26-12-24 18:00 to 26-12-24 20:00"}},
		"in UTC":            {events("DTSTART:20261224T180000Z\nDURATION:PT1H30M"), "2026-12-01", "2027-01-31", []string{"26-12-24 19:00 to 26-12-24 20:30"}},
		"in another zone":   {events("DTSTART;TZID=\"America/New_York\":20261224T090000\nDTEND;TZID=America/New_York:20261224T100000"), "2026-12-01", "2027-01-31", []string{"26-12-24 15:00 to 26-12-24 16:00"}},
		"no duration":       {events("DTSTART:20261224T180000"), "2026-12-01", "2027-01-31", nil},
		"cancelled":         {events("DTSTART;VALUE=DATE:20261225\nSTATUS:Cancelled"), "2026-12-01", "2027-01-31", nil},
		"free":              {events("DTSTART;VALUE=DATE:20261225\nTRANSP:TRANSPARENT"), "2026-12-01", "2027-01-31", []string{"26-12-25 00:00 to 26-12-26 00:00"}},
		"yearly":            {events("DTSTART;VALUE=DATE:20200501\nRRULE:FREQ=YEARLY"), "2026-01-01", "2028-01-01", []string{"26-05-01 00:00 to 26-05-02 00:00", "27-05-01 00:00 to 27-05-02 00:00"}},
		"up to 2099":        {events("DTSTART;VALUE=DATE:19000501\nRRULE:FREQ=YEARLY"), "2098-05-02", "2099-12-31", []string{"99-05-01 00:00 to 99-05-02 00:00"}},
		"Thanksgiving":      {events("DTSTART;VALUE=DATE:20201126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"), "2026-01-01", "2028-01-01", []string{"26-11-26 00:00 to 26-11-27 00:00", "27-11-25 00:00 to 27-11-26 00:00"}},
		"last of the month": {events("DTSTART;VALUE=DATE:20200131\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1"), "2026-02-01", "2026-04-01", []string{"26-02-28 00:00 to 26-03-01 00:00", "26-03-31 00:00 to 26-04-01 00:00"}},
		"hours, by the clock": {
			events("DTSTART;TZID=Europe/Berlin:20260327T220000\nDTEND;TZID=Europe/Berlin:20260328T060000\nRRULE:FREQ=DAILY;COUNT=3"), "2026-03-27", "2026-04-02",
			// The second one is exactly as long as the first.
			[]string{"26-03-27 22:00 to 26-03-28 06:00", "26-03-28 22:00 to 26-03-29 07:00", "26-03-29 22:00 to 26-03-30 06:00"},
		},
		"until, in UTC":  {events("DTSTART;TZID=Europe/Berlin:20261201T003000\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20261201T233000Z"), "2026-12-01", "2026-12-31", []string{"26-12-01 00:30 to 26-12-01 01:30", "26-12-02 00:30 to 26-12-02 01:30"}},
		"until a day":    {events("DTSTART:20261201T230000\nDURATION:PT30M\nRRULE:FREQ=DAILY;UNTIL=20261202"), "2026-12-01", "2026-12-31", []string{"26-12-01 23:00 to 26-12-01 23:30", "26-12-02 23:00 to 26-12-02 23:30"}},
		"more and fewer": {events("DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=DAILY;COUNT=3\nRDATE;VALUE=DATE:20261210,20261212\nEXDATE;VALUE=DATE:20261202"), "2026-12-01", "2026-12-31", []string{"26-12-01 00:00 to 26-12-02 00:00", "26-12-03 00:00 to 26-12-04 00:00", "26-12-10 00:00 to 26-12-11 00:00", "26-12-12 00:00 to 26-12-13 00:00"}},
		"fewer, in UTC":  {events("DTSTART:20261201T120000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE:20261201T110000Z"), "2026-12-01", "2026-12-31", []string{"26-12-02 12:00 to 26-12-02 13:00"}},
		"fewer days":     {events("DTSTART:20261201T120000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE;VALUE=DATE:20261202"), "2026-12-01", "2026-12-31", []string{"26-12-01 12:00 to 26-12-01 13:00"}},
		"one of a series is elsewhere": {
			events("UID:a\nDTSTART:20261201T120000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2", "UID:a\nRECURRENCE-ID:20261202T120000\nDTSTART:20261202T160000\nDURATION:PT1H"),
			"2026-12-01", "2026-12-31", []string{"26-12-01 12:00 to 26-12-01 13:00", "26-12-02 16:00 to 26-12-02 17:00"},
		},
		"one of a series is cancelled": {
			events("UID:a\nDTSTART:20261201T120000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2", "UID:a\nRECURRENCE-ID:20261202T120000\nDTSTART:20261202T120000\nSTATUS:CANCELLED"),
			"2026-12-01", "2026-12-31", []string{"26-12-01 12:00 to 26-12-01 13:00"},
		},
		"begins in what is skipped": {events("DTSTART:20260329T023000\nDURATION:PT1H"), "2026-03-29", "2026-03-30", []string{"26-03-29 03:30 to 26-03-29 04:30"}},
		"begins in what is twice":   {events("DTSTART:20261025T023000\nDURATION:PT30M"), "2026-10-25", "2026-10-26", []string{"26-10-25 02:30 to 26-10-25 02:00"}},
		"an alarm within": {
			events("DTSTART;VALUE=DATE:20261225\nBEGIN:VALARM\nDURATION:what\nEND:VALARM"), "2026-12-01", "2027-01-31", []string{"26-12-25 00:00 to 26-12-26 00:00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := calendar.FromICalendar("Europe/Berlin", []byte(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := spans(t, c, tc.from, tc.to); !slices.Equal(got, tc.want) {
				t.Errorf("leaves out %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	day := "DTSTART;VALUE=DATE:20261225\n"
	many := func(n int, event string) string { return events(slices.Repeat([]string{event}, n)...) }
	for name, tc := range map[string]struct{ file, want string }{
		"nothing":        {"", "a whole VCALENDAR"},
		"no events":      {events(), "at least one VEVENT"},
		"cut":            {strings.TrimSuffix(events(day), "END:VCALENDAR\r\n"), "a whole VCALENDAR"},
		"no begin":       {"VERSION:2.0\n", "line 1, \"VERSION:2.0\": BEGIN:VCALENDAR is expected"},
		"crossed":        {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n", "line 3, \"END:VCALENDAR\": END:VEVENT"},
		"no DTSTART":     {events("UID:a"), "event in line 4: DTSTART is needed"},
		"ends twice":     {events(day + "DTEND;VALUE=DATE:20261226\nDURATION:P1D"), "and not both"},
		"ends before":    {events(day + "DTEND;VALUE=DATE:20261224"), "DTEND is before DTSTART"},
		"another kind":   {events(day + "DTEND:20261226T000000"), "not of its kind"},
		"hours of a day": {events(day + "DURATION:PT1H"), "in days or weeks"},
		"date":           {events("DTSTART;VALUE=DATE:20261301"), "line 7, \"DTSTART;VALUE=DATE:20261301\": a date"},
		"long ago":       {events("DTSTART;VALUE=DATE:18991231"), "1900 to"},
		"zone":           {events("DTSTART;TZID=W. Europe Standard Time:20261224T090000"), "W. Europe Standard Time"},
		"Local":          {events("DTSTART;TZID=Local:20261224T090000"), "a name is needed"},
		"duration":       {events(day + "DURATION:PT"), "a duration such as"},
		"period":         {events(day + "RDATE;VALUE=PERIOD:20261224T090000Z/PT1H"), "VALUE: DATE and DATE-TIME"},
		"range":          {events(day + "RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261225"), "RANGE is not supported"},
		"EXRULE":         {events(day + "EXRULE:FREQ=DAILY"), "EXRULE is not supported"},
		"no frequency":   {events(day + "RRULE:COUNT=2"), "FREQ"},
		"secondly":       {events(day + "RRULE:FREQ=SECONDLY"), "FREQ: YEARLY, MONTHLY, WEEKLY and DAILY"},
		"interval":       {events(day + "RRULE:FREQ=DAILY;INTERVAL=1000000000"), "INTERVAL of 1 to 10000"},
		"hours":          {events(day + "RRULE:FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE=1,2,3,4,5"), "more than 24 times a day"},
		"positions":      {events(day + "RRULE:FREQ=YEARLY;BYDAY=MO;BYSETPOS=1,2,3,4,5,6,7,8,9,10,11"), "BYSETPOS: up to 10 positions are allowed"},
		"month":          {events(day + "RRULE:FREQ=YEARLY;BYMONTH=13"), "bymonth"},
		"day of month":   {events(day + "RRULE:FREQ=YEARLY;BYMONTH=12;BYDAY=53MO"), "BYDAY: up to 5"},
		"easter":         {events(day + "RRULE:FREQ=YEARLY;BYEASTER=100000"), "BYEASTER is not supported"},
		"too often":      {many(20, day+"RRULE:FREQ=DAILY"), "more than 500000 times"},
		"rules":          {many(301, day+"RRULE:FREQ=YEARLY;COUNT=1"), "more than 300 rules"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := calendar.FromICalendar("Europe/Berlin", []byte(tc.file)); err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 700 {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func ExampleFromICalendar() {
	c, err := calendar.FromICalendar("Europe/Berlin", []byte(`BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART;VALUE=DATE:20201003
RRULE:FREQ=YEARLY
END:VEVENT
END:VCALENDAR
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, out := c.Excluded(time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC))
	fmt.Println(out)
	// Output: true
}
