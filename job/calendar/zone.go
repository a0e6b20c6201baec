package calendar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

const (
	day = 24 * 60 * 60 // seconds

	firstYear, lastYear = 1970, 2099
	// longAgo and farAhead are two days outside of these years, so that all zones have them.
	longAgo  = -2 * day
	farAhead = 4102444800 + 2*day // the first is 2100-01-01
)

// zone says what the clock of a time zone shows. What it shows is a wall: the seconds since
// 1970 that UTC has when its clock shows the same.
type zone []stretch

// stretch is a time in which the wall is always as far from UTC.
type stretch struct {
	span
	offset int64 // wall - instant
}

func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errors.New("a name is needed that means the same zone everywhere, such as Europe/Berlin or UTC")
	}
	loc, err := cronexpr.LoadLocation(name)
	if err != nil { // whose text allows no name, too
		return nil, fmt.Errorf("time zone %s: %w; allowed: an IANA name such as Asia/Shanghai, or GMT±hh:mm up to 23:59 such as GMT+08:00", brief.Quote(name), errors.Unwrap(err))
	}
	return loc, nil
}

func zoneOf(loc *time.Location) zone {
	var z zone
	for at := int64(longAgo); at < farAhead; {
		t := time.Unix(at, 0).In(loc)
		_, offset := t.Zone()
		_, bound := t.ZoneBounds()
		end := int64(farAhead)
		switch {
		case bound.IsZero():
		case !bound.After(t):
			// For years that a zone file covers by a rule, Go 1.26 returns an end in the past on
			// the last day of a leap year (golang/go#81583).
			end = (at/day + 1) * day
		default:
			end = min(bound.Unix(), farAhead)
		}
		if last := len(z) - 1; last >= 0 && z[last].offset == int64(offset) {
			z[last].to = end
		} else {
			z = append(z, stretch{span{at, end}, int64(offset)})
		}
		at = end
	}
	return z
}

// from returns the stretches that end after an instant.
func (z zone) from(at int64) zone {
	n, _ := slices.BinarySearchFunc(z, at, func(s stretch, at int64) int { return cmp.Compare(s.to, at+1) })
	return z[n:]
}

// shows returns the instants at which the clock shows a wall from one up to another.
func (z zone) shows(from, to int64) []span {
	var spans []span
	for _, s := range z.from(from - day) {
		if s.from > to+day {
			break
		}
		if shown := (span{max(from-s.offset, s.from), min(to-s.offset, s.to)}); shown.from < shown.to {
			spans = append(spans, shown)
		}
	}
	return spans
}

// instant returns the first instant at which the clock shows a wall. If it skips the wall, it
// returns the one that it would be if the clock had not been put forward.
func (z zone) instant(wall int64) int64 {
	list := z.from(wall - day)
	for n, s := range list {
		if at := wall - s.offset; at < s.to || n+1 == len(list) || at < list[n+1].from || wall-list[n+1].offset < list[n+1].from {
			return at
		}
	}
	return wall // before or after all
}

// wall returns what the clock shows at an instant.
func (z zone) wall(at int64) int64 {
	for _, s := range z.from(at) {
		return at + s.offset
	}
	return at
}

// wallOf returns the wall of a date at 00:00. Days and months beyond the last are those of the
// next month or year.
func wallOf(year int, month time.Month, day int) int64 {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
}
