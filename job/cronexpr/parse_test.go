package cronexpr_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

func TestErrorsPointAtTheFault(t *testing.T) {
	cases := []struct {
		expr     string
		field    string
		text     string
		position int
		problem  string // part of it
		allowed  string // part of it
	}{
		{"", "", "", 1, "empty", ""},
		{" \t", "", "", 1, "empty", ""},
		{"*/5 * * *", "", "", 10, "after 4 of the fields second minute hour day-of-month month day-of-week", ""},
		{"0 0 0 1 1 ? 2030 x", "", "x", 18, "too much", ""},
		{"TZ=UTC 0 0 0 * * ?", "", "TZ=UTC", 1, "time zone is not part", ""},
		{"CRON_TZ=UTC 0 0 * * ?", "", "CRON_TZ=UTC", 1, "time zone is not part", ""},

		{"60 * * * * ?", "second", "60", 1, "not in 0-59", "0-59"},
		{"0 5-60 * * * ?", "minute", "60", 5, "not in 0-59", "0-59"},
		{"0 0 24 * * ?", "hour", "24", 5, "not in 0-23", "0-23"},
		{"0 0 1,2,25 * * ?", "hour", "25", 9, "not in 0-23", "0-23"},
		{"0 0 0 0 * ?", "day-of-month", "0", 7, "not in 1-31", "1-31"},
		{"0 0 0 1 13 ?", "month", "13", 9, "not in 1-12", "JAN-DEC"},
		{"0 0 0 ? * 8", "day-of-week", "8", 11, "not in 1-7", "1 is Sunday"},
		{"0 0 0 1 1 ? 2100", "year", "2100", 13, "not in 1970-2099", "1970-2099"},
		{"0 0 0 1 1 ? 99999999999999999999", "year", "99999999999999999999", 13, "not in 1970-2099", "1970-2099"},
		{"0 0 0 1 1 ? 2030-2028", "year", "2030-2028", 13, "ends before it begins", "1970-2099"},

		{"a * * * * ?", "second", "a", 1, "not a value", "0-59"},
		{"5x * * * * ?", "second", "5x", 1, "not a value", "0-59"},
		{"-1 * * * * ?", "second", "", 1, "the value is missing", "0-59"},
		{"1- * * * * ?", "second", "", 3, "the value is missing", "0-59"},
		{"1,,2 * * * * ?", "second", "", 3, "the value is missing", "0-59"},
		{"1, * * * * ?", "second", "", 3, "the value is missing", "0-59"},
		{"? * * * * ?", "second", "?", 1, "not a value", "0-59"},
		{"0 0 0 ?,1 * ?", "day-of-month", "?", 7, "not a value", "? alone"},
		{"0 0 0 1 Foo ?", "month", "Foo", 9, "no such name", "JAN-DEC"},
		{"0 0 0 ? * Monday", "day-of-week", "Monday", 11, "no such name", "SUN-SAT"},
		{"0 0 0 ? * mon-funday", "day-of-week", "funday", 15, "no such name", "SUN-SAT"},
		{"é 0 0 0 1 x ?", "second", "é", 1, "not a value", "0-59"},
		{"0 0 0 ? * MONé", "day-of-week", "MONé", 11, "no such name", "SUN-SAT"},
		{"0 0 0 ? é SUN,x", "month", "é", 9, "not a value", "1-12"},

		{"*/0 * * * * ?", "second", "0", 3, "step is not in 1-59", "0-59"},
		{"* 0/60 * * * ?", "minute", "60", 5, "step is not in 1-59", "0-59"},
		{"* * 0-12/24 * * ?", "hour", "24", 10, "step is not in 1-23", "0-23"},
		{"*/ * * * * ?", "second", "", 3, "the step is missing", "0-59"},
		{"1/2/3 * * * * ?", "second", "2/3", 3, "not a step", "0-59"},
		{"0 0 0 ? * Mon-Fri/2", "day-of-week", "Mon-Fri/2", 11, "a step cannot follow a name", ""},
		{"0 0 0 1 Jan/3 ?", "month", "Jan/3", 9, "a step cannot follow a name", ""},

		{"0 0 0 32W * ?", "day-of-month", "32", 7, "day is not in 1-31", "1W to 31W"},
		{"0 0 0 W * ?", "day-of-month", "", 7, "the day is missing", "1W to 31W"},
		{"0 0 0 1-5W * ?", "day-of-month", "1-5", 7, "not a day", "1W to 31W"},
		{"0 0 0 L-31 * ?", "day-of-month", "31", 9, "offset is not in 0-30", "L-30"},
		{"0 0 0 L- * ?", "day-of-month", "", 9, "the offset is missing", "L-30"},
		{"0 0 0 LAST * ?", "day-of-month", "LAST", 7, "not understood", "LW"},
		{"0 0 0 3L * ?", "day-of-month", "3L", 7, "not a value", "LW"},
		{"0 0 0 ? * 6#6", "day-of-week", "6", 13, "number after # is not in 1-5", "7#5"},
		{"0 0 0 ? * 6#", "day-of-week", "", 13, "the number after # is missing", "7#5"},
		{"0 0 0 ? * #2", "day-of-week", "", 11, "the value is missing", "7#5"},
		{"0 0 0 ? * FRI#3X", "day-of-week", "3X", 15, "not a number after #", "7#5"},
		{"0 0 0 ? * 0L", "day-of-week", "0", 11, "not in 1-7", "7L"},
		{"0 0 0 ? * 15W", "day-of-week", "15W", 11, "not a value", "SUN-SAT"},

		{"0 0 12 * * *", "day-of-week", "*", 12, `day-of-month is "*"; one of the two must be ?: write "0 0 12 * * ?"`, ""},
		{"0 0 12 * * *  2030", "day-of-week", "*", 12, `: write "0 0 12 * * ? 2030"`, ""},
		{"0 0 12 15W * *", "day-of-week", "*", 14, `: write "0 0 12 15W * ?"`, ""},
		{"0 0 12 * * mon", "day-of-week", "mon", 12, `: write "0 0 12 ? * mon"`, ""},
		{"0 0 12 1 * mon", "day-of-week", "mon", 12, `day-of-month is "1"; one of the two must be ?: write "0 0 12 1 * ?", and "0 0 12 ? * mon" as a further expression`, ""},
		{"0 0 12 ? * ?", "day-of-week", "?", 12, "one of the two must name days", ""},

		{"@", "", "@", 1, "no such descriptor", "@hourly"},
		{"@reboot", "", "@reboot", 1, "no such descriptor", "@hourly"},
		{"@Daily now", "", "now", 8, "nothing may follow @daily", ""},
		{"@every", "", "", 7, "duration after @every is missing", "1h30m"},
		{"@every soon", "", "soon", 8, "not a duration", "1h30m"},
		{"@every 5", "", "5", 8, "not a duration", "1h30m"},
		{"@every 0s", "", "0s", 8, "whole seconds", "1h30m"},
		{"@every -5s", "", "-5s", 8, "whole seconds", "1h30m"},
		{"@every 500ms", "", "500ms", 8, "whole seconds", "1h30m"},
		{"@every 1.5s", "", "1.5s", 8, "whole seconds", "1h30m"},
		{"@every 1h 30m", "", "30m", 11, "nothing may follow", ""},
	}
	for _, c := range cases {
		t.Run(c.expr, func(t *testing.T) {
			s, err := cronexpr.Parse(c.expr, time.UTC)
			if err == nil {
				t.Fatalf("read as %s", s)
			}
			if s != nil {
				t.Errorf("a schedule beside the error")
			}
			var got *cronexpr.ParseError
			if !errors.As(err, &got) {
				t.Fatalf("%v is a %T", err, err)
			}
			want := &cronexpr.ParseError{Expr: c.expr, Field: c.field, Text: c.text, Position: c.position}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(cronexpr.ParseError{}),
				cmpopts.IgnoreFields(cronexpr.ParseError{}, "Problem", "Allowed")); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(got.Problem, c.problem) || !strings.Contains(got.Allowed, c.allowed) {
				t.Errorf("problem %q, allowed %q", got.Problem, got.Allowed)
			}
			if errors.Is(err, cronexpr.ErrNeverFires) {
				t.Error("said never to fire")
			}
		})
	}
}

func TestErrorIsOneReadableLine(t *testing.T) {
	for expr, want := range map[string]string{
		"0 0 25 * * ?": `cron expression "0 0 25 * * ?": hour "25" at position 5: the value is not in 0-23; allowed: 0-23 and , - * /`,
		"0 0 0 1":      `cron expression "0 0 0 1": position 8: the expression ends after 4 of the fields second minute hour day-of-month month day-of-week, and a year if wanted; allowed: five fields (Unix), or six or seven (Quartz)`,
		"0 0 0 30 2 ?": `cron expression "0 0 0 30 2 ?": day-of-month "30" at position 7: the expression never fires: no such day in month 2`,
	} {
		if _, err := cronexpr.Parse(expr, time.UTC); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestNeverFires(t *testing.T) {
	cases := []struct {
		expr, field, text string
		loc               *time.Location
	}{
		{"0 0 0 30 2 ?", "day-of-month", "30", time.UTC},
		{"0 0 0 30W FEB ?", "day-of-month", "30W", time.UTC},
		{"* * * 31 2,4,6,9,11 ?", "day-of-month", "31", time.UTC},
		{"0 0 0 L-29,L-30 2 ?", "day-of-month", "L-29,L-30", time.UTC},
		{"0 0 0 29 2 ? 2027", "day-of-month", "29", time.UTC},
		{"0 0 0 29 2 ? 2098,2099", "day-of-month", "29", time.UTC},
		{"0 0 0 ? 2 MON#5 2028", "day-of-week", "MON#5", time.UTC},
		{"0 30 2 14 3 ? 2027", "hour", "2", newYork(t)},
		{"* 0-29 2 ? 10 SUN#1 2008/1", "hour", "2", lordHowe(t)},
		{"0 0 30,31 2 *", "day-of-month", "30,31", time.UTC},
		{"30 2 14 3 *", "hour", "2", newZone(t, "Pi", -5*time.Hour, "EST5EDT,J73/2,J300/2", change{"1969-02-01T00:00:00Z", -5 * time.Hour})},
	}
	for _, c := range cases {
		_, err := cronexpr.Parse(c.expr, c.loc)
		if !errors.Is(err, cronexpr.ErrNeverFires) {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		checkError(t, c.expr, err)
		var e *cronexpr.ParseError
		if errors.As(err, &e); e.Field != c.field || e.Text != c.text {
			t.Errorf("%s: blamed %s %q", c.expr, e.Field, e.Text)
		}
	}
	// The same expressions fire in another zone or year, where there is such a time.
	for _, expr := range []string{"0 0 0 29 2 ? 2096", "0 0 0 ? 2 TUE#5 2028", "0 30 2 14 3 ? 2027", "* 0-29 2 ? 10 SUN#1 2008/1"} {
		parse(t, expr, time.UTC)
	}
}

func TestString(t *testing.T) {
	cases := map[string]string{
		"* * * * * ?":                       "* * * * * ?",
		"0-59 0/1 /1 1-31 JAN-DEC ? 1970/1": "* * * * * ?",
		"0 0 0 ? * *":                       "0 0 0 * * ?",
		"0 0 0 ? * SUN-SAT":                 "0 0 0 * * ?",
		"0 0 0 *,15W * ? *":                 "0 0 0 * * ?",
		"0 0 0 ? * *,FRI#3":                 "0 0 0 * * ?",
		"0/5 5/10 3-12/3 * * ?":             "*/5 5/10 3-12/3 * * ?",
		"0 10-30/10 3-9/3 * * ?":            "0 10-30/10 3-9/3 * * ?",
		"30,0 5,3,4,5 0 * * ?":              "0,30 3-5 0 * * ?",
		"1,2,3,5,8 0 22-2 25-5 nov-feb ?":   "1-3,5,8 0 22-2 25-5 11-2 ?",
		"59,0 0 0 31,1 12,1 ?":              "59-0 0 0 31-1 12-1 ?",
		"05 007 0 1 1 ?":                    "5 7 0 1 1 ?",
		" 0\t0\r\n0  l * ? ":                "0 0 0 L * ?",
		"0 0 0 lw,l-3,15w,1,l-0,L-2W * ?":   "0 0 0 1,15W,L,L-3,LW,L-2W * ?",
		"0 0 0 ? * 1":                       "0 0 0 ? * SUN",
		"0 0 0 ? * L":                       "0 0 0 ? * SAT",
		"0 0 0 ? * 2-6":                     "0 0 0 ? * MON-FRI",
		"0 0 0 ? * 6-2":                     "0 0 0 ? * FRI-MON",
		"0 0 0 ? * */2":                     "0 0 0 ? * TUE,THU,SAT-SUN",
		"0 0 0 ? * fri#3,2L,7,4#1":          "0 0 0 ? * SAT,WED#1,FRI#3,MONL",
		"0 0 0 1 1 ? 2030-2050/5":           "0 0 0 1 1 ? 2030-2050/5",
		"0 0 0 1 1 ? 2030/5":                "0 0 0 1 1 ? 2030/5",
		"0 0 0 1 1 ? 2099,1970-1972":        "0 0 0 1 1 ? 1970-1972,2099",
		"@yearly":                           "0 0 0 1 1 ?",
		"@Annually":                         "0 0 0 1 1 ?",
		"@monthly":                          "0 0 0 1 * ?",
		"@weekly":                           "0 0 0 ? * SUN",
		"@daily":                            "0 0 0 * * ?",
		"@midnight":                         "0 0 0 * * ?",
		" @HOURLY ":                         "0 0 * * * ?",
		"@every 90s":                        "@every 1m30s",
		"@Every 1H":                         "@every 1h0m0s",
	}
	for expr, want := range cases {
		s := parse(t, expr, time.UTC)
		if got := s.String(); got != want {
			t.Errorf("%q is printed as %q, not %q", expr, got, want)
		}
		if again := parse(t, s.String(), time.UTC).String(); again != want {
			t.Errorf("%q is printed as %q", want, again)
		}
	}
}
