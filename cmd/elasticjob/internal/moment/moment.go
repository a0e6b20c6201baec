// Package moment reads and writes times on the command line, in the local zone.
package moment

import (
	"fmt"
	"time"
)

// Moment is a flag with a time.
type Moment struct{ time.Time }

// Layout is how a time is written in the local zone.
const Layout = "2006-01-02 15:04:05"

// Set reads a time: RFC 3339, a time of the local zone, the last such time of day, or how long ago it was.
func (m *Moment) Set(text string) (err error) {
	m.Time, err = parse(text, time.Now())
	return err
}

func parse(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{Layout, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	if text == "now" {
		return now, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("allowed are 2006-01-02T15:04:05Z07:00, in the local zone %q or 15:04, which is the last one, now, and how long ago, such as 90m", Layout)
}

// String writes the time as RFC 3339.
func (m *Moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339Nano)
}

// Type is what help shows.
func (m *Moment) Type() string { return "time" }

// Text writes a time for people, in the local zone; empty for the zero time.
func Text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(Layout)
}
