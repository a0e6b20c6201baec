package cronexpr_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// A union ticks when any of its schedules does, and looks back in the same way.
func TestUnion(t *testing.T) {
	exprs := []string{"0 0/5 * * * ?", "30 7 * * * ?", "0 0 0 29 2 ?", "0 0 0 1 1 ? 2001", "@every 7m"}
	rapid.Check(t, func(t *rapid.T) {
		var u cronexpr.Union
		for _, expr := range rapid.SliceOfN(rapid.SampledFrom(exprs), 0, 4).Draw(t, "expressions") {
			s, err := cronexpr.Parse(expr, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			u = append(u, s)
		}
		at := time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "at"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds"))
		next, prev := u.Next(at), u.Prev(at)
		isTick := func(tick time.Time) bool {
			for _, s := range u {
				if s.Prev(tick).Equal(tick) {
					return true
				}
			}
			return tick.IsZero()
		}
		if !isTick(next) || !isTick(prev) || !next.IsZero() && !next.After(at) || prev.After(at) {
			t.Fatalf("%q at %v: next %v, previous %v", u, at, next, prev)
		}
		for _, s := range u {
			if tick := s.Next(at); !tick.IsZero() && tick.Before(next) {
				t.Fatalf("%q at %v: next %v, and %v comes before", u, at, next, tick)
			}
			if s.Prev(at).After(prev) {
				t.Fatalf("%q at %v: previous %v, and %v comes after", u, at, prev, s.Prev(at))
			}
		}
	})
}

func TestUnionAsText(t *testing.T) {
	var u cronexpr.Union
	for _, expr := range []string{"0 0 12 ? * MON-FRI", "@every 1h"} {
		s, err := cronexpr.Parse(expr, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		u = append(u, s)
	}
	if got, want := u.String(), u[0].String()+"\n"+u[1].String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Unions mean the same if their expressions and zones do, in any order and any number.
func TestUnionSame(t *testing.T) {
	union := func(zone string, exprs ...string) (u cronexpr.Union) {
		loc, err := cronexpr.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, expr := range exprs {
			u = append(u, parse(t, expr, loc))
		}
		return u
	}
	for _, c := range []struct {
		a, b cronexpr.Union
		want bool
	}{
		{union("UTC", "0 0 3 * * ?"), union("UTC", "0 0 3 * * ? *"), true},
		{union("UTC", "0 0 3 * * ?"), union("Etc/UTC", "0 0 3 ? * *"), true},
		{union("UTC", "0 0 3 * * ?"), union("GMT", "0 0 3 1-31 * ?"), true},
		{union("UTC", "0 0 0 * * ?"), union("UTC", "@daily"), true},
		{union("UTC", "0 */5 * * * ?"), union("UTC", "*/5 * * * *"), true},
		{union("UTC", "30 4 1,15 * FRI"), union("UTC", "30 4 1,15 * 5"), true},
		{union("Asia/Shanghai", "0 0 3 * * ?"), union("PRC", "0 0 3 * * ?"), true},
		{union("UTC", "0 0 3 * * ?", "0 0 4 * * ?"), union("UTC", "0 0 4 * * ?", "0 0 3 * * ?", "0 0 4 * * ?"), true},
		{union("UTC", "@every 90s"), union("Asia/Tokyo", "@every 1m30s"), true},
		{union("UTC"), union("Asia/Tokyo"), true},
		{union("UTC", "0 0 3 * * ?"), union("UTC", "0 0 4 * * ?"), false},
		{union("UTC", "0 0 3 * * ?"), union("Asia/Tokyo", "0 0 3 * * ?"), false},
		{union("Asia/Shanghai", "0 0 3 * * ?"), union("GMT+08:00", "0 0 3 * * ?"), false}, // its clocks were put forward until 1991
		{union("UTC", "0 0 3 * * ?"), union("UTC", "0 0 3 * * ?", "0 0 4 * * ?"), false},
		{union("UTC", "0 0 3 * * ?"), union("UTC", "0 0 3 * * ? 2030"), false},
		{union("UTC", "@every 1h"), union("UTC", "@hourly"), false}, // other words, which are not compared
		{union("UTC", "@every 1h"), union("UTC", "@every 2h"), false},
	} {
		if got := c.a.Same(c.b); got != c.want || c.b.Same(c.a) != got {
			t.Errorf("%q and %q: %t, want %t", c.a, c.b, got, c.want)
		}
	}
}
