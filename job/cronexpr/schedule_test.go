package cronexpr_test

import (
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

var _ cron.Schedule = (*cronexpr.Schedule)(nil)

// clock reads a time with its offset from UTC.
func clock(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04:05.999999999 -07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestClockChanges walks through both changes of the clock, forth and back.
func TestClockChanges(t *testing.T) {
	cases := []struct {
		name, expr string
		loc        *time.Location
		times      []string
	}{
		{"skipped", "0 30 2 * * ?", newYork(t), []string{
			"2027-03-13 02:30:00 -05:00", "2027-03-15 02:30:00 -04:00"}},
		{"skipped in part", "0 0/20 1-3 14 3 ?", newYork(t), []string{
			"2027-03-14 01:00:00 -05:00", "2027-03-14 01:20:00 -05:00", "2027-03-14 01:40:00 -05:00",
			"2027-03-14 03:00:00 -04:00", "2027-03-14 03:20:00 -04:00", "2027-03-14 03:40:00 -04:00"}},
		{"skipped half", "0 29,31 1-3 3 10 ?", lordHowe(t), []string{
			"2027-10-03 01:29:00 +10:30", "2027-10-03 01:31:00 +10:30",
			"2027-10-03 02:31:00 +11:00", "2027-10-03 03:29:00 +11:00"}},
		{"twice", "0 30 1 * * ?", newYork(t), []string{
			"2027-11-06 01:30:00 -04:00", "2027-11-07 01:30:00 -05:00", "2027-11-08 01:30:00 -05:00"}},
		{"twice in part", "0 0/30 0-2 7 11 ?", newYork(t), []string{
			"2027-11-07 00:00:00 -04:00", "2027-11-07 00:30:00 -04:00",
			"2027-11-07 01:00:00 -05:00", "2027-11-07 01:30:00 -05:00",
			"2027-11-07 02:00:00 -05:00", "2027-11-07 02:30:00 -05:00"}},
		{"twice half", "0 15,45 1 4 4 ?", lordHowe(t), []string{
			"2027-04-04 01:15:00 +11:00", "2027-04-04 01:45:00 +10:30"}},
		// Go 1.26 is wrong about where the offset of this day ends.
		{"last day of a leap year", "0 0 0,12 31,1 12,1 ?", newYork(t), []string{
			"2040-12-31 00:00:00 -05:00", "2040-12-31 12:00:00 -05:00", "2041-01-01 00:00:00 -05:00"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, c.expr, c.loc)
			for i := 1; i < len(c.times); i++ {
				before, after := clock(t, c.times[i-1]), clock(t, c.times[i])
				if got := s.Next(before); !got.Equal(after) {
					t.Errorf("after %v comes %v, not %v", before, got, after)
				}
				if got := s.Prev(after.Add(-1)); !got.Equal(before) {
					t.Errorf("before %v comes %v, not %v", after, got, before)
				}
			}
		})
	}
}

// TestAskedInRepeatedHour asks at 01:20, before 01:00 is shown again.
func TestAskedInRepeatedHour(t *testing.T) {
	s := parse(t, "0 0/15 * * * ?", newYork(t))
	at := clock(t, "2027-11-07 01:20:00 -04:00")
	if got, want := s.Next(at), clock(t, "2027-11-07 01:00:00 -05:00"); !got.Equal(want) {
		t.Errorf("Next is %v, not %v", got, want)
	}
	if got, want := s.Prev(at), clock(t, "2027-11-07 00:45:00 -04:00"); !got.Equal(want) {
		t.Errorf("Prev is %v, not %v", got, want)
	}
}

func TestBounds(t *testing.T) {
	const never = ""
	cases := []struct {
		expr, at, prev, next string
	}{
		{"0 0 12 1 1 ? 2028,2030", "2027-01-01 00:00:00 +08:00", never, "2028-01-01 12:00:00 +08:00"},
		{"0 0 12 1 1 ? 2028,2030", "2028-01-01 11:59:59.999999999 +08:00", never, "2028-01-01 12:00:00 +08:00"},
		{"0 0 12 1 1 ? 2028,2030", "2028-01-01 12:00:00 +08:00", "2028-01-01 12:00:00 +08:00", "2030-01-01 12:00:00 +08:00"},
		{"0 0 12 1 1 ? 2028,2030", "2028-01-01 12:00:00.000000001 +08:00", "2028-01-01 12:00:00 +08:00", "2030-01-01 12:00:00 +08:00"},
		{"0 0 12 1 1 ? 2028,2030", "2030-01-01 12:00:00 +08:00", "2030-01-01 12:00:00 +08:00", never},
		{"* * * * * ?", "1969-12-31 23:59:59 +08:00", never, "1970-01-01 00:00:00 +08:00"},
		{"* * * * * ?", "1970-01-01 00:00:00.5 +08:00", "1970-01-01 00:00:00 +08:00", "1970-01-01 00:00:01 +08:00"},
		{"* * * * * ?", "2099-12-31 23:59:59 +08:00", "2099-12-31 23:59:59 +08:00", never},
		{"* * * * * ?", "0001-01-01 00:00:00 +00:00", never, "1970-01-01 00:00:00 +08:00"},
		{"* * * * * ?", "9999-01-01 00:00:00 +00:00", "2099-12-31 23:59:59 +08:00", never},
		{"@every 1m30s", "1969-06-01 00:00:00 +00:00", never, "1970-01-01 00:00:00 +00:00"},
		{"@every 1m30s", "1970-01-01 00:00:00 +00:00", "1970-01-01 00:00:00 +00:00", "1970-01-01 00:01:30 +00:00"},
		{"@every 1m30s", "1970-01-01 00:01:29.9 +00:00", "1970-01-01 00:00:00 +00:00", "1970-01-01 00:01:30 +00:00"},
		{"@every 1m30s", "9999-01-01 00:00:00 +00:00", never, never},
		{"@every 24h", "2027-06-01 10:00:00 +08:00", "2027-06-01 00:00:00 +00:00", "2027-06-02 00:00:00 +00:00"},
		{"@every 7s", "2027-06-01 10:00:00 +08:00", "2027-06-01 09:59:54 +08:00", "2027-06-01 10:00:01 +08:00"},
	}
	for _, c := range cases {
		s, at := parse(t, c.expr, shanghai()), clock(t, c.at)
		for _, ask := range []struct {
			name string
			got  time.Time
			want string
		}{{"Prev", s.Prev(at), c.prev}, {"Next", s.Next(at), c.next}} {
			want := time.Time{}
			if ask.want != never {
				want = clock(t, ask.want)
			}
			if !ask.got.Equal(want) {
				t.Errorf("%s: %s of %v is %v, not %v", c.expr, ask.name, at, ask.got, want)
			}
		}
	}
}

// TestFarTimes asks for what does not fit into the seconds of a time.Time.
func TestFarTimes(t *testing.T) {
	first, last := time.Unix(-1<<62, 0), time.Unix(1<<62, 0)
	for _, expr := range []string{"* * * * * ?", "0 0 0 29 2 ?", "@every 1h"} {
		s := parse(t, expr, newYork(t))
		if next, prev := s.Next(first), s.Prev(first); next.IsZero() || !prev.IsZero() {
			t.Errorf("%s in the beginning: %v, %v", expr, prev, next)
		}
		if next := s.Next(last); !next.IsZero() {
			t.Errorf("%s in the end: %v", expr, next)
		}
	}
}

func TestTimesAreInTheLocation(t *testing.T) {
	for _, expr := range []string{"0 0 12 * * ?", "@every 1h"} {
		s := parse(t, expr, kolkata())
		if s.Location().String() != "Asia/Kolkata" {
			t.Errorf("location %v", s.Location())
		}
		at := time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC)
		if next, prev := s.Next(at), s.Prev(at); next.Location() != s.Location() || prev.Location() != s.Location() {
			t.Errorf("%s: %v, %v", expr, prev, next)
		}
	}
	if s := parse(t, "@daily", nil); s.Location() != time.Local {
		t.Errorf("nil is %v", s.Location())
	}
}

func TestNextAndPrevDoNotAllocate(t *testing.T) {
	at := time.Date(2027, 3, 13, 20, 0, 0, 0, time.UTC)
	for _, speed := range speeds {
		s := parse(t, speed.expr, newYork(t))
		if n := testing.AllocsPerRun(10, func() { s.Next(at); s.Prev(at) }); n != 0 {
			t.Errorf("%s: %v allocations", speed.expr, n)
		}
	}
}
