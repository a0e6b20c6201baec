package cronexpr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// What robfig/cron and Unix cron take for the same is read, and means what an expression of Quartz
// says, if one can.
func TestFiveFields(t *testing.T) {
	for expr, want := range map[string]string{
		"*/5 * * * *":           "0 */5 * * * ?",
		"0 9 * * MON-FRI":       "0 0 9 ? * MON-FRI",
		"0 9 * * 1-5":           "0 0 9 ? * MON-FRI",
		"0 0 * * 0":             "0 0 0 ? * SUN",
		"0 0 * * */2":           "0 0 0 ? * TUE,THU,SAT-SUN",
		"0 0 1 jan,JUL *":       "0 0 0 1 1,7 ?",
		"0 0 */10 * *":          "0 0 0 */10 * ?",
		"0 0 */1 * 5":           "0 0 0 ? * FRI",
		"0 0 *,5 * 1":           "0 0 0 ? * MON",
		"*/90 * * * *":          "0 0 * * * ?",
		" \t5  04 * * mon-sat ": "0 5 4 ? * MON-SAT",
		"30 4 1,15 * 5":         "30 4 1,15 * FRI",
		"0 0 1-31/2 */2 sun,2":  "0 0 1-31/2 */2 SUN,TUE",
		"7-59/9 1-3 3-9/3 * 1":  "7-52/9 1-3 3-9/3 * MON",
		"0 0 1-31 * 5":          "0 0 0 * * ?", // either
		"0 0 31 2 1":            "0 0 31 2 MON",
		"5-5/10 * * * *":        "0 5 * * * ?",
	} {
		if s, err := cronexpr.Parse(expr, time.UTC); err != nil || s.String() != want {
			t.Errorf("%q: got %v, %v, want %q", expr, s, err, want)
		}
	}
}

// The error shows what each of them reads, in a form that both read so.
func TestFiveFieldsRefused(t *testing.T) {
	for expr, want := range map[string]string{
		// Only one of them reads it.
		"0 0 * * 7":     `day-of-week "7" at position 9: Unix cron reads it as "0 0 * * SUN", and robfig/cron does not read it (end of range (7) above maximum (6): 7): write "0 0 * * SUN"`,
		"0 0 * * 5-7":   `Unix cron reads it as "0 0 * * SUN,FRI-SAT", and robfig/cron does not read it`,
		"0 0 ? * MON":   `day-of-month "?" at position 5: not a value; five fields are those of Unix cron, minute first, and robfig/cron reads it as "0 0 * * MON": write that if it is meant; allowed: 1-31 and , - * /`,
		"5/10 * * * *":  `minute "5/10" at position 1: cron takes no notice of a step after a single value; write 5-59 and the step, or the value alone; five fields are those of Unix cron, minute first, and robfig/cron reads it as "5-55/10 * * * *"`,
		"59/10 * * * *": `step after a single value; write the value alone; five`,
		"0 0 * * 7/3":   `day-of-week "7/3" at position 9: cron takes no notice of a step after a single value; write the value alone; five`,
		"0 0 * * 7-7/3": `Unix cron reads it as "0 0 * * SUN", and robfig/cron does not read it`,
		"1,,2 * * * *":  `the value is missing; five fields are those of Unix cron, minute first, and robfig/cron reads it as "1-2 * * * *"`,
		// Both read it, one of them as days of both fields.
		"0 0 */2 * 1":   `in both fields, which no expression of Quartz says; if those of either are meant, write a range in place of *; five fields are those of Unix cron, minute first, and robfig/cron reads it as "0 0 1-31/2 * MON"`,
		"0 0 */2 * 0-6": `day-of-month "*/2" at position 5: Unix cron reads it as "0 0 1-31/2 * *", robfig/cron as "0 0 * * *": write the one that is meant`,
		"0 0 5,* * 1":   `day-of-month "5,*" at position 5: Unix cron reads it as "0 0 * * *", robfig/cron as "0 0 * * MON"`,
		"0 0 5 * 1,*":   `day-of-week "1,*" at position 9: Unix cron reads it as "0 0 * * *", robfig/cron as "0 0 5 * *"`,
		// None does.
		"60 * * * *":  `minute "60" at position 1: the value is not in 0-59; five fields are those of Unix cron, minute first; allowed: 0-59`,
		"0 0 0 L *":   `day-of-month "0" at position 5`,
		", * * * *":   "the value is missing",
		"* , * * *":   "the value is missing",
		"* * * * ,":   "the value is missing",
		"* * , * *":   "the value is missing",
		"0 0 0 * * ?": "", // not of five fields
		// Time zones are told first: robfig/cron panics where nothing follows one.
		"TZ=UTC":                      "a job has it in TimeZone",
		"CRON_TZ=Asia/Tokyo":          "a job has it in TimeZone",
		"TZ=UTC * * * *":              "a job has it in TimeZone",
		"CRON_TZ=UTC */5 * * * *":     "a job has it in TimeZone",
		"TZ=UTC @daily":               "a job has it in TimeZone",
		"TZ=Asia/Tokyo 0 0 3 * * ? *": "a job has it in TimeZone",
	} {
		_, err := cronexpr.Parse(expr, time.UTC)
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", expr, err, want)
			continue
		}
		checkError(t, expr, err)
	}
}

// checkFiveFields compares what Parse says of five fields with robfig/cron and with Convert.
func checkFiveFields(t rapid.TB, expr string, starts ...time.Time) {
	t.Helper()
	if len(strings.Fields(expr)) != 5 || strings.Contains(expr, "=") || strings.Contains(expr, "@") {
		return
	}
	s, err := cronexpr.Parse(expr, kolkata()) // without clock changes
	unix, unixErr := cronexpr.Convert(expr)
	robfig, robfigErr := cron.ParseStandard(expr)
	if err != nil {
		checkError(t, expr, err)
	}
	if unixErr != nil || robfigErr != nil {
		if err == nil {
			t.Fatalf("%q is read as %v; Unix cron: %v; robfig/cron: %v", expr, s, unixErr, robfigErr)
		}
		return
	}
	var union cronexpr.Union
	for _, quartz := range unix {
		one, err := cronexpr.Parse(quartz, kolkata())
		if err != nil {
			t.Fatal(err)
		}
		union = append(union, one)
	}
	if err != nil {
		if !differ(union, robfig) {
			t.Fatalf("%v, but they agree: %q", err, unix)
		}
		return
	}
	const ticks = 50
	for _, at := range starts {
		for range ticks {
			want := robfig.Next(at.In(kolkata()))
			got := s.Next(at)
			if want.IsZero() && !got.IsZero() && got.Sub(at) > 4*365*24*time.Hour {
				want = got // robfig/cron looks ahead for five years
			}
			if !got.Equal(want) || !union.Next(at).Equal(got) {
				t.Fatalf("%q after %v: %v, Unix cron has %v, robfig/cron %v", expr, at, got, union.Next(at), want)
			}
			if at = got; at.IsZero() || at.Year() > 2094 {
				break
			}
		}
	}
}

// differ reports whether one of two schedules ticks on a day on which the other one does not.
func differ(a, b cron.Schedule) bool {
	for day := time.Date(2026, 1, 1, 0, 0, 0, 0, kolkata()); day.Year() < 2028; day = day.AddDate(0, 0, 1) {
		isOn := func(s cron.Schedule) bool { return s.Next(day.Add(-time.Second)).Before(day.AddDate(0, 0, 1)) }
		if isOn(a) != isOn(b) {
			return true
		}
	}
	return false
}

func TestFiveFieldsAgreeWithRobfig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := unixLines.Draw(t, "line")
		checkFiveFields(t, strings.Join(line, " "), date(2026, 1, 1), time.Unix(rapid.Int64Range(0, 120*365*86400).Draw(t, "from"), 0))
	})
}

// FuzzFiveFields looks for expressions that mean something else here than in robfig/cron, and for panics.
func FuzzFiveFields(f *testing.F) {
	for _, expr := range []string{
		"*/5 * * * *", "0 9 * * MON-FRI", "30 4 1,15 * 5", "0 0 */2 * 1", "0 0 ? * 1", "0 0 * * 7", "5/10 * * * *", "*/90 * * * *",
		"0 0 29 2 *", "0 0 31 2 1", "0 0 5,* * 1", "0 0 *,5 * 1", "0 0 */2 * 0-6", "0 0 1-31 * */2", ", * * * *", "*-5 * * * *", "+5 * * * *",
		"1,,2 * * * *", "* * * * FRİ", "* * * * ſun", "0 0 1 jan-mar/2 sun", "00 000 01 * *", "*/18446744073709551615 * * * *",
		"TZ=UTC", "TZ=UTC * * * *", " TZ=UTC * * * *", "CRON_TZ=", "@every 5m", "* * * * *\u00a0", "*\v* * * * *",
	} {
		f.Add(expr, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, expr string, unix int64) {
		checkFiveFields(t, expr, time.Unix(unix%(120*365*86400), 0))
		if _, err := cronexpr.Parse(expr, kolkata()); err != nil {
			checkError(t, expr, err)
		}
	})
}

// Where clocks are put forward both skip the same times; where they are put back, robfig/cron ticks both times
// that a time is shown, and a Schedule the second time.
func TestFiveFieldsWhereClocksChange(t *testing.T) {
	loc := newYork(t)
	for _, expr := range []string{"30 2 * * *", "30 1 * * *", "*/20 * * * *", "0 */2 * * SUN", "15 1 1-7 11 SUN"} {
		robfig, err := cron.ParseStandard(expr)
		if err != nil {
			t.Fatal(err)
		}
		s, twice := parse(t, expr, loc), 0
		for _, from := range []string{"2027-03-13 12:00:00 -05:00", "2027-11-06 12:00:00 -04:00"} {
			at := clock(t, from).In(loc)
			for range 60 {
				want := robfig.Next(at)
				for (model{loc: loc}).shownAgain(want.Unix()) {
					want, twice = robfig.Next(want), twice+1
				}
				if got := s.Next(at); !got.Equal(want) {
					t.Fatalf("%q after %v: %v, robfig/cron has %v", expr, at, got, want)
				}
				at = want
			}
		}
		if isTwice := !strings.HasPrefix(expr, "30 2") && !strings.HasPrefix(expr, "0 */2"); isTwice != (twice > 0) {
			t.Errorf("%q: %d times are there twice", expr, twice)
		}
	}
}
