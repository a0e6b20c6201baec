package calendar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// Spans say what Excluded does, cut at the ends of the time.
func TestSpans(t *testing.T) {
	c := parse(t, "dates: [2026-12-24..2026-12-26, 2026-12-31]\nweekly: ['SUN', '12:00-13:00']")
	between := func(from, to string) (list []string) {
		for s := range c.Spans(parseTime(t, from, c.Location()), parseTime(t, to, c.Location())) {
			if s.From.Location() != c.Location() || !s.From.Before(s.To) {
				t.Errorf("%v to %v", s.From, s.To)
			}
			list = append(list, s.From.Format("02 15:04")+" to "+s.To.Format("02 15:04"))
		}
		return list
	}
	for _, tt := range []struct {
		from, to string
		want     []string
	}{
		{"2026-12-23", "2026-12-30", []string{"23 12:00 to 23 13:00", "24 00:00 to 28 00:00", "28 12:00 to 28 13:00", "29 12:00 to 29 13:00"}},
		{"2026-12-25", "2026-12-26", []string{"25 00:00 to 26 00:00"}},
		{"2026-12-24", "2026-12-28", []string{"24 00:00 to 28 00:00"}},
		{"2026-12-29 13:00", "2026-12-30 12:00", nil},
		{"2026-12-29 12:30", "2026-12-29 12:40", []string{"29 12:30 to 29 12:40"}},
		{"2026-12-29 12:30", "2026-12-29 12:30", nil},
		{"2026-12-29 12:30", "2026-12-29 12:20", nil},
		{"2150-01-01", "2151-01-01", nil},
	} {
		if got := between(tt.from, tt.to); !slices.Equal(got, tt.want) {
			t.Errorf("from %s to %s: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
	for s := range c.Spans(time.Unix(0, 0), time.Unix(1<<40, 0)) { // who has enough stops
		if s.From.Before(time.Unix(0, 0)) {
			t.Errorf("begins at %v", s.From)
		}
		break
	}
}

func TestLocation(t *testing.T) {
	for name, want := range map[string]string{"Asia/Shanghai": "Asia/Shanghai", "GMT+8": "GMT+08:00"} {
		c, err := calendar.Parse([]byte("timeZone: " + name))
		if err != nil || c.Location().String() != want || strings.Contains(name, "+") != (c.Location().String() != name) {
			t.Errorf("%s: %v, %v", name, c.Location(), err)
		}
	}
}
