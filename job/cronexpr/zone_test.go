package cronexpr_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without zone files

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

func TestLoadLocation(t *testing.T) {
	cases := []struct {
		name, want string
		offset     time.Duration // in the winter of 2027
	}{
		{"UTC", "UTC", 0},
		{"Asia/Shanghai", "Asia/Shanghai", 8 * time.Hour},
		{"America/New_York", "America/New_York", -5 * time.Hour},
		{"GMT", "GMT", 0},
		{"GMT+0", "GMT", 0},
		{"GMT-00:00", "GMT", 0},
		{"GMT+08:00", "GMT+08:00", 8 * time.Hour},
		{"GMT+8:00", "GMT+08:00", 8 * time.Hour},
		{"GMT+0800", "GMT+08:00", 8 * time.Hour},
		{"GMT+800", "GMT+08:00", 8 * time.Hour},
		{"GMT+8", "GMT+08:00", 8 * time.Hour},
		{"GMT-03:30", "GMT-03:30", -3*time.Hour - 30*time.Minute},
		{"GMT-0:30", "GMT-00:30", -30 * time.Minute},
		{"GMT+23:59", "GMT+23:59", 24*time.Hour - time.Minute},
	}
	for _, c := range cases {
		loc, err := cronexpr.LoadLocation(c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		_, offset := time.Date(2027, 1, 15, 0, 0, 0, 0, time.UTC).In(loc).Zone()
		if loc.String() != c.want || time.Duration(offset)*time.Second != c.offset {
			t.Errorf("%q is %v, %d s from UTC", c.name, loc, offset)
		}
		// What it is called finds it again.
		if again, err := cronexpr.LoadLocation(loc.String()); err != nil || again.String() != c.want {
			t.Errorf("%q is %v, %v", loc, again, err)
		}
	}
	if loc, err := cronexpr.LoadLocation(""); err != nil || loc != time.Local {
		t.Errorf("no name is %v, %v", loc, err)
	}
}

func TestLoadLocationRefuses(t *testing.T) {
	for _, name := range []string{
		"Asia/Shanghia", "GMT+24:00", "GMT+8:60", "GMT+8:0", "GMT+08:00:00", "GMT+", "GMT8", "GMT +8", " GMT", "UTC+8", "+08:00", "../etc/passwd", "Local", "localtime", "posixrules",
	} {
		loc, err := cronexpr.LoadLocation(name)
		if err == nil {
			t.Errorf("%q is %v", name, loc)
			continue
		}
		for _, part := range []string{`"` + name + `"`, "IANA", "GMT±hh:mm"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: %s is missing", err, part)
			}
		}
	}
}

// TestFarOffset uses the greatest offset that a zone can have here.
func TestFarOffset(t *testing.T) {
	for _, name := range []string{"GMT+23:59", "GMT-23:59"} {
		loc, err := cronexpr.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		s := parse(t, "0 0 0 * * ?", loc)
		first := time.Date(1970, 1, 1, 0, 0, 0, 0, loc)
		last := time.Date(2099, 12, 31, 0, 0, 0, 0, loc)
		if got := s.Next(time.Time{}); !got.Equal(first) {
			t.Errorf("the first is %v", got)
		}
		if got := s.Prev(last.AddDate(1, 0, 0)); !got.Equal(last) {
			t.Errorf("the last is %v", got)
		}
		if got := s.Next(last); !got.IsZero() {
			t.Errorf("after the last comes %v", got)
		}
		if got := s.Prev(first.Add(-1)); !got.IsZero() {
			t.Errorf("before the first comes %v", got)
		}
	}
}
