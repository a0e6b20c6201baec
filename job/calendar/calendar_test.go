package calendar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// parse returns a calendar in the zone of Berlin.
func parse(t testing.TB, document string) *calendar.Calendar {
	t.Helper()
	c, err := calendar.Parse([]byte("timeZone: Europe/Berlin\n" + document))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// spans lists what a calendar leaves out between two times, as Berlin's clock shows it.
func spans(t testing.TB, c *calendar.Calendar, from, to string) (list []string) {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := parseTime(t, from, berlin)
	for end := parseTime(t, to, berlin); at.Before(end); {
		until, out := c.Excluded(at)
		if !out {
			at = at.Add(time.Minute)
			continue
		}
		const layout = "06-01-02 15:04"
		if until.IsZero() {
			return append(list, at.Format(layout)+" for ever")
		}
		list = append(list, at.Format(layout)+" to "+until.Format(layout))
		at = until
	}
	return list
}

func parseTime(t testing.TB, text string, zone *time.Location) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		at, err = time.ParseInLocation(time.DateOnly, text, zone)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestExcluded(t *testing.T) {
	for name, tc := range map[string]struct {
		document, from, to string
		want               []string
	}{
		"nothing":               {"", "2026-01-01", "2026-01-03", nil},
		"a day":                 {"dates: [2026-12-25]", "2026-12-20", "2027-01-03", []string{"26-12-25 00:00 to 26-12-26 00:00"}},
		"a range":               {"dates: [2026-12-24..2026-12-26]", "2026-12-20", "2027-01-03", []string{"26-12-24 00:00 to 26-12-27 00:00"}},
		"days that touch":       {"dates: [2026-12-25, 2026-12-24]", "2026-12-20", "2027-01-03", []string{"26-12-24 00:00 to 26-12-26 00:00"}},
		"every year":            {"dates: [05-01]", "2026-01-01", "2028-01-01", []string{"26-05-01 00:00 to 26-05-02 00:00", "27-05-01 00:00 to 27-05-02 00:00"}},
		"over the year's end":   {"dates: [12-31..01-01]", "2026-12-01", "2027-02-01", []string{"26-12-31 00:00 to 27-01-02 00:00"}},
		"February 29":           {"dates: [02-29]", "2026-01-01", "2029-01-01", []string{"28-02-29 00:00 to 28-03-01 00:00"}},
		"up to February 29":     {"dates: [02-28..02-29]", "2027-01-01", "2029-01-01", []string{"27-02-28 00:00 to 27-03-01 00:00", "28-02-28 00:00 to 28-03-01 00:00"}},
		"weekend":               {"weekly: ['SAT,sun']", "2026-11-23", "2026-11-30", []string{"26-11-28 00:00 to 26-11-30 00:00"}},
		"hours of every day":    {"weekly: ['12:00-13:30']", "2026-11-23", "2026-11-25", []string{"26-11-23 12:00 to 26-11-23 13:30", "26-11-24 12:00 to 26-11-24 13:30"}},
		"over midnight":         {"weekly: ['FRI 18:00-08:00']", "2026-11-23", "2026-11-30", []string{"26-11-27 18:00 to 26-11-28 08:00"}},
		"over the week's end":   {"weekly: ['SUN-MON 22:00-24:00']", "2026-11-22", "2026-11-29", []string{"26-11-22 22:00 to 26-11-23 00:00", "26-11-23 22:00 to 26-11-24 00:00"}},
		"SAT-MON":               {"weekly: [SAT-MON]", "2026-11-24", "2026-12-03", []string{"26-11-28 00:00 to 26-12-01 00:00"}},
		"only":                  {"only: ['MON-FRI 08:00-18:00', 'FRI 20:00-21:00']", "2026-11-27 12:00", "2026-11-30 12:00", []string{"26-11-27 18:00 to 26-11-27 20:00", "26-11-27 21:00 to 26-11-30 08:00"}},
		"only and dates":        {"only: ['08:00-18:00']\ndates: [2026-11-27]", "2026-11-26 12:00", "2026-11-28 12:00", []string{"26-11-26 18:00 to 26-11-28 08:00"}},
		"always":                {"weekly: [MON-SUN]", "2026-11-27", "2026-11-28", []string{"26-11-27 00:00 for ever"}},
		"an hour that is twice": {"weekly: ['02:00-03:00']", "2026-10-25", "2026-10-26", []string{"26-10-25 02:00 to 26-10-25 03:00"}},
		"an hour that is not":   {"weekly: ['02:00-03:00']", "2026-03-29", "2026-03-30", nil},
		"half of it twice":      {"weekly: ['02:30-04:00']", "2026-10-25", "2026-10-26", []string{"26-10-25 02:30 to 26-10-25 02:00", "26-10-25 02:30 to 26-10-25 04:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spans(t, parse(t, tc.document), tc.from, tc.to); !slices.Equal(got, tc.want) {
				t.Errorf("leaves out %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for document, want := range map[string]string{
		"":                                      "the document is empty",
		"dates: [2026-12-25]":                   "timeZone: a name is needed",
		"timeZone: Local":                       "timeZone: line 1: a name is needed",
		"timeZone: Mars/Olympus":                `time zone "Mars/Olympus": unknown time zone Mars/Olympus; allowed: an IANA name such as Asia/Shanghai, or GMT±hh:mm`,
		"timeZone: UTC\nholidays: [2026-12-25]": `line 2: the key "holidays" is not known`,
		"timeZone: UTC\ndates: 2026-12-25":      "dates: line 2: a list",
		"timeZone: UTC\ndates:\n- 2026-12-25\n- 2026-02-29":                `dates: line 4: "2026-02-29": a day such as`,
		"timeZone: UTC\ndates: [02-30]":                                    `"02-30": a day such as`,
		"timeZone: UTC\ndates: [1969-12-31]":                               "1970 to 2099",
		"timeZone: UTC\ndates: [2026-12-25..2026-12-24]":                   "the last day is before the first",
		"timeZone: UTC\ndates: [2026-12-25..12-26]":                        "both days with a year",
		"timeZone: UTC\ndates: [{}]":                                       "a single value is allowed",
		"timeZone: UTC\ndates: ['']":                                       "is empty",
		"timeZone: UTC\ndates: [" + strings.Repeat("05-01,", 4000) + "]":   "more than 500000 times",
		"timeZone: UTC\ndates: [" + strings.Repeat("05-01,", 10_001) + "]": "a list of at most 10000",
		"timeZone: UTC\nweekly: [Samstag]":                                 `weekly: line 2: "Samstag": days such as`,
		"timeZone: UTC\nweekly: [MON 18:00]":                               "days such as",
		"timeZone: UTC\nweekly: [MON 8:00-18:00]":                          `"8:00": hours and minutes`,
		"timeZone: UTC\nweekly: [MON 18:00-25:00]":                         `"25:00": hours and minutes`,
		"timeZone: UTC\nweekly: [MON 18:00-18:00]":                         "the window is empty",
		"timeZone: UTC\nweekly: [MON 24:00-18:00]":                         "begins at 00:00",
		"timeZone: UTC\nweekly: [MON, TUE 12:00-13:00 x]":                  "days such as",
		"timeZone: UTC\nonly: [MON-]":                                      "only: line 2",
		"timeZone: UTC\nicalendar: {}":                                     "icalendar: line 2: a single value",
		"timeZone: UTC\nicalendar: x":                                      `line 1, "x": NAME;`,
		"timeZone: UTC\ntimeZone: UTC":                                     "again",
		"# " + strings.Repeat("x", calendar.MaxSize):                       "at most 524288 are allowed",
	} {
		if _, err := calendar.Parse([]byte(document)); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 700 {
			t.Errorf("%.100q: %v, want %q", document, err, want)
		}
	}
}

// The sum tells documents apart, and Document returns what was parsed.
func TestDocument(t *testing.T) {
	a, b := parse(t, "dates: [2026-12-25]"), parse(t, "dates: [2026-12-26]")
	if len(a.Sum()) != 16 || a.Sum() == b.Sum() {
		t.Errorf("sums %q and %q", a.Sum(), b.Sum())
	}
	if again, err := calendar.Parse(a.Document()); err != nil || again.Sum() != a.Sum() {
		t.Errorf("%v, sum %q, want %q", err, again.Sum(), a.Sum())
	}
}

func ExampleParse() {
	c, err := calendar.Parse([]byte(`
timeZone: Europe/Berlin
dates: [2026-12-24..2026-12-26, 05-01]
weekly: ["SAT,SUN", "18:00-08:00"]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	until, out := c.Excluded(time.Date(2026, 12, 23, 20, 0, 0, 0, time.UTC))
	fmt.Println(out, until)
	// Output: true 2026-12-28 07:00:00 +0000 UTC
}

// Calendars mean the same if they leave out the same together.
func TestMeaning(t *testing.T) {
	a := parse(t, "dates: [2026-12-25, 2026-12-26]\nweekly: [SUN]")
	for document, want := range map[string]bool{
		"dates: [2026-12-25..2026-12-26] # both\nweekly: ['SUN', SUN 10:00-12:00]": true,
		"dates: [2026-12-26, 2026-12-25, 2026-12-27]\nweekly: [SUN]":               true, // which is a Sunday
		"dates: [2026-12-25]\nweekly: [SUN]":                                       false,
		"dates: [2026-12-25, 2026-12-26]":                                          false,
	} {
		b := parse(t, document)
		if got := calendar.Meaning(a) == calendar.Meaning(b); got != want {
			t.Errorf("%q means the same: %t, want %t", document, got, want)
		}
	}
	first, second := parse(t, "dates: [2026-12-26, 2026-12-25]"), parse(t, "weekly: [SUN]")
	if calendar.Meaning(first, second) != calendar.Meaning(a) || calendar.Meaning(second, first) != calendar.Meaning(a) {
		t.Error("two calendars do not mean what one that has both means")
	}
	if none := calendar.Meaning(parse(t, "dates: []")); none != "" || calendar.Meaning() != "" {
		t.Errorf("nothing is %q", none)
	}
}
