package pace_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/pace"
)

func TestLead(t *testing.T) {
	const ms = time.Millisecond
	fast := make([]time.Duration, 60)
	for name, tc := range map[string]struct {
		took   []time.Duration // one after the other, each for a tick of its own
		period time.Duration
		want   time.Duration
	}{
		"nothing yet":                  {nil, time.Second, 0},
		"a few milliseconds":           {[]time.Duration{9 * ms}, time.Second, 0},
		"a little":                     {[]time.Duration{10 * ms}, time.Second, 50 * ms},
		"half of a lead":               {[]time.Duration{100 * ms}, time.Second, 200 * ms},
		"more":                         {[]time.Duration{101 * ms}, time.Second, pace.MaxLead},
		"the longest counts":           {[]time.Duration{90 * ms, 5 * ms, 5 * ms}, time.Second, 200 * ms},
		"and is forgotten":             {append([]time.Duration{90 * ms}, fast...), time.Second, 50 * ms},
		"as long as the period":        {[]time.Duration{time.Second}, time.Second, 0},
		"longer than the longest lead": {[]time.Duration{30 * time.Second}, time.Minute, pace.MaxLead},
		"the clock was set back":       {[]time.Duration{-time.Hour}, time.Second, 0},
	} {
		var claims pace.Claims
		tick := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, took := range tc.took {
			next := tick.Add(tc.period)
			claims.Took(tick, next, took)
			tick = next
		}
		if got := claims.Lead(); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}

	set := 200 * ms
	for name, tc := range map[string]struct {
		claims pace.Claims
		took   time.Duration
		want   time.Duration
	}{
		"claims are fast":  {took: 9 * ms},
		"claims are slow":  {took: 10 * ms, want: pace.MaxLead},
		"the lead is set":  {claims: pace.Claims{Set: &set}, took: 10 * ms, want: set},
		"nothing is early": {claims: pace.Claims{Set: new(time.Duration(0))}, took: 10 * ms},
	} {
		tc.claims.Took(time.Unix(0, 0), time.Unix(60, 0), tc.took)
		if got := tc.claims.NextLead(); got != tc.want {
			t.Errorf("with the end of a run, %s: %v, want %v", name, got, tc.want)
		}
	}

	var items pace.Claims
	for range 1000 { // the items of one tick
		items.Took(time.Unix(0, 0), time.Unix(60, 0), time.Millisecond)
		items.Took(time.Unix(0, 0), time.Unix(60, 0), 90*time.Millisecond)
	}
	if got := items.Lead(); got != 200*time.Millisecond {
		t.Errorf("the items of one tick: %v", got)
	}
}
