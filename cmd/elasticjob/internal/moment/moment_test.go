package moment

import (
	"testing"
	"time"
)

func TestMoments(t *testing.T) {
	zone := time.FixedZone("there", 2*3600)
	now := time.Date(2026, 3, 4, 12, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"2026-03-04T05:06:07Z":      time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		"2026-03-04T05:06:07+03:00": time.Date(2026, 3, 4, 2, 6, 7, 0, time.UTC),
		"2026-03-04 05:06:07":       time.Date(2026, 3, 4, 5, 6, 7, 0, zone),
		"2026-03-04 05:06":          time.Date(2026, 3, 4, 5, 6, 0, 0, zone),
		"2026-03-04":                time.Date(2026, 3, 4, 0, 0, 0, 0, zone),
		"12:00":                     time.Date(2026, 3, 4, 12, 0, 0, 0, zone),
		"12:30:01":                  time.Date(2026, 3, 3, 12, 30, 1, 0, zone),
		"now":                       now,
		"90m":                       time.Date(2026, 3, 4, 11, 0, 0, 0, zone),
	} {
		if got, err := parse(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, wrong := range []string{"", "tomorrow", "-5m", "2026-13-01", "25:00"} {
		if err := new(Moment).Set(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
