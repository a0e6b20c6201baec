package cronexpr_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

func ExampleConvert() {
	list, err := cronexpr.Convert("30 4 1,15 * 5") // on the 1st, on the 15th, and on Fridays
	fmt.Println(strings.Join(list, "\n"), err)
	// Output:
	// 0 30 4 1,15 * ?
	// 0 30 4 ? * FRI <nil>
}

func TestConvert(t *testing.T) {
	for unix, want := range map[string]string{
		"* * * * *":             "0 * * * * ?",
		"*/5 * * * *":           "0 */5 * * * ?",
		"5-59/10 * * * *":       "0 5/10 * * * ?",
		"5-5/10 * * * *":        "0 5 * * * ?",
		"0 0 * * 7-7/3":         "0 0 0 ? * SUN",
		"0,30 8-18 * * 1-5":     "0 0,30 8-18 ? * MON-FRI",
		"0 0 * * 0":             "0 0 0 ? * SUN",
		"0 0 * * 7":             "0 0 0 ? * SUN",
		"0 0 * * sun,Sat":       "0 0 0 ? * SAT-SUN",
		"0 0 * * 5-7":           "0 0 0 ? * FRI-SUN",
		"0 0 * * 1-7/3":         "0 0 0 ? * SUN-MON,THU",
		"0 0 * * */2":           "0 0 0 ? * TUE,THU,SAT-SUN",
		"0 0 * * 0-7":           "0 0 0 * * ?",
		"0 22 * * mon-fri":      "0 0 22 ? * MON-FRI",
		"15 14 1 * *":           "0 15 14 1 * ?",
		"0 0 1 jan,JUL *":       "0 0 0 1 1,7 ?",
		"0 0 29 feb *":          "0 0 0 29 2 ?",
		"23 0-23/2 * * *":       "0 23 */2 * * ?",
		"0 0,12 1 */2 *":        "0 0 0,12 1 */2 ?",
		"0 0 */10 * *":          "0 0 0 */10 * ?",
		"*/90 * * * *":          "0 0 * * * ?",
		"0 0 13 * 5":            "0 0 0 13 * ?|0 0 0 ? * FRI",
		"0 0 1-31 * 5":          "0 0 0 * * ?", // either
		"0 0 13 * 0-6":          "0 0 0 * * ?", // either
		"0 0 */1 * 5":           "0 0 0 ? * FRI",
		"0 0 13 * */1":          "0 0 0 13 * ?",
		"0 0 31 2 1":            "0 0 0 ? 2 MON", // there is no 31 February
		"\t05  04 * * *\n":      "0 5 4 * * ?",
		"@hourly":               "0 0 * * * ?",
		"@Daily":                "0 0 0 * * ?",
		"@midnight":             "0 0 0 * * ?",
		"@weekly":               "0 0 0 ? * SUN",
		"@monthly":              "0 0 0 1 * ?",
		"@yearly":               "0 0 0 1 1 ?",
		"@annually":             "0 0 0 1 1 ?",
		"0 9-17/4,23 * * 1,3,5": "0 0 9,13,17,23 ? * MON,WED,FRI",
	} {
		if got, err := cronexpr.Convert(unix); err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, %v, want %q", unix, got, err, want)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	for unix, want := range map[string]string{
		"":                      "ends after 0 of the fields minute hour",
		"* * * *":               "ends after 4 of the fields",
		"* * * * * root reboot": `"root" at position 11: too much; the fields are minute hour day-of-month month day-of-week, without a user or a command`,
		"0 0 12 * * ?":          "it has the fields of Quartz already",
		"60 * * * *":            `minute "60" at position 1: the value is not in 0-59`,
		"* 24 * * *":            `hour "24"`,
		"* * 0 * *":             `day-of-month "0"`,
		"* * * 13 *":            `month "13"`,
		"* * * * 8":             `day-of-week "8"`,
		"* * * * L":             "no such name",
		"* * L * *":             "not a value",
		"* * 15W * *":           "not a value",
		"* * ? * *":             "not a value",
		"5/10 * * * *":          "write 5-59 and the step",
		"*/0 * * * *":           "the step is not in 1-999",
		"*/x * * * *":           "not a step",
		"1,,2 * * * *":          "the value is missing",
		"* 22-2 * * *":          "the range ends before it begins",
		"* * * * FRI-SUN":       "the range ends before it begins; allowed: 0-7 (0 and 7 are Sunday)",
		"* * * * monday":        "no such name",
		"0 0 */2 * 1":           `with the day-of-month "*/2" cron runs on days that are in both fields`,
		"0 0 13 * */2":          "in both fields",
		"TZ=UTC 0 0 * * *":      "the time zone is not part of the expression; a job has it in TimeZone",
		"SHELL=/bin/sh":         "variables are not part of the expression",
		"@reboot":               "one-off job",
		"@every 1h":             "a job takes it as it is",
		"@fortnightly":          "no such descriptor",
		"@daily backup":         "nothing may follow @daily",
	} {
		got, err := cronexpr.Convert(unix)
		if err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%q: got %q, %v, want %s", unix, got, err, want)
			continue
		}
		checkError(t, unix, err)
	}
	if _, err := cronexpr.Convert("0 0 30,31 2 *"); !errors.Is(err, cronexpr.ErrNeverFires) {
		t.Errorf("30 February: %v", err)
	}
}

// unixLine is a line of Vixie cron, read as its source and its manual say: slowly.
type unixLine []string

// has reports whether a field has a value.
func (l unixLine) has(field, value, lo, hi int, names []string) bool {
	return anyEntry(l[field], func(entry string) bool {
		span, step, stepped := strings.Cut(entry, "/")
		every := 1
		if stepped {
			every, _ = strconv.Atoi(step) // the test writes digits
		}
		from, to := lo, hi
		if span != "*" {
			first, last, isRange := strings.Cut(span, "-")
			if from = valueOf(first, lo, names); isRange {
				to = valueOf(last, lo, names)
			} else {
				to = from
			}
		}
		return value >= from && value <= to && (value-from)%every == 0
	})
}

func (l unixLine) hasDate(day time.Time) bool {
	if !l.has(3, int(day.Month()), 1, 12, monthNames) {
		return false
	}
	dom := l.has(2, day.Day(), 1, 31, nil)
	dow := l.has(4, int(day.Weekday()), 0, 7, weekdays) || day.Weekday() == time.Sunday && l.has(4, 7, 0, 7, weekdays)
	if strings.HasPrefix(l[2], "*") || strings.HasPrefix(l[4], "*") {
		return dom && dow
	}
	return dom || dow
}

func (l unixLine) hasTime(at time.Time) bool {
	return l.has(0, at.Minute(), 0, 59, nil) && l.has(1, at.Hour(), 0, 23, nil)
}

// unixLines draws lines that cron takes.
var unixLines = rapid.Custom(func(t *rapid.T) unixLine {
	line := make(unixLine, 5)
	for i, f := range []struct {
		name   string
		lo, hi int
		names  []string
	}{{"minute", 0, 59, nil}, {"hour", 0, 23, nil}, {"day-of-month", 1, 31, nil}, {"month", 1, 12, monthNames}, {"day-of-week", 0, 7, weekdays}} {
		value := func(lo, hi int) (string, int) {
			n := rapid.IntRange(lo, hi).Draw(t, f.name)
			if n-f.lo < len(f.names) && rapid.Bool().Draw(t, "by name") {
				return f.names[n-f.lo], n
			}
			return strconv.Itoa(n), n
		}
		step := func() string { return "/" + strconv.Itoa(rapid.IntRange(1, f.hi+5).Draw(t, f.name+" step")) }
		entries := make([]string, rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, f.name+" entries"))
		for n := range entries {
			switch rapid.IntRange(0, 6).Draw(t, f.name+" form") {
			case 0, 1, 2:
				entries[n] = "*"
			case 3:
				entries[n], _ = value(f.lo, f.hi)
			case 4:
				entries[n] = "*" + step()
			default:
				from, n1 := value(f.lo, f.hi-1)
				to, _ := value(n1+1, f.hi)
				entries[n] = from + "-" + to
				if rapid.Bool().Draw(t, f.name+" stepped") {
					entries[n] += step()
				}
			}
		}
		line[i] = strings.Join(entries, ",")
	}
	return line
})

// What is converted ticks at the minutes at which cron runs the line, and at no others. What is
// refused is what no expression says, or what cron never runs.
func TestConvertAgreesWithCron(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := unixLines.Draw(t, "line")
		list, err := cronexpr.Convert(strings.Join(line, " "))
		switch {
		case errors.Is(err, cronexpr.ErrNeverFires):
			for day := date(2000, 1, 1); day.Year() < 2028; day = day.AddDate(0, 0, 1) { // all calendars
				if line.hasDate(day) {
					t.Fatalf("%v: cron runs on %v", err, day)
				}
			}
			return
		case err != nil:
			if !strings.Contains(line[2]+line[4], "*/") {
				t.Fatal(err)
			}
			return
		}
		var union cronexpr.Union
		for _, expr := range list {
			s, err := cronexpr.Parse(expr, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			union = append(union, s)
		}
		days := rapid.SliceOfN(rapid.Int64Range(0, 130*365), 5, 5).Draw(t, "days")
		if next := union.Next(date(2026, 1, 1).Add(-time.Second)); !next.IsZero() {
			days = append(days, next.Unix()/86400)
		}
		for _, n := range days {
			day := time.Unix(n*86400, 0).UTC()
			var want, got []string
			if line.hasDate(day) {
				for at := day; at.Day() == day.Day(); at = at.Add(time.Minute) {
					if line.hasTime(at) {
						want = append(want, at.Format(time.TimeOnly))
					}
				}
			}
			for at := union.Next(day.Add(-time.Second)); at.Unix()/86400 == n; at = union.Next(at) {
				got = append(got, at.Format(time.TimeOnly))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q on %v: got %v, want %v", list, day, got, want)
			}
		}
	})
}

func date(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}
