package strategy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// lowest is a custom strategy that gives everything to the first instance.
var lowest = strategy.Func(func(r strategy.Request) []string {
	owners := make([]string, r.Total)
	for item := range owners {
		owners[item] = r.Instances[0].ID
	}
	return owners
})

func TestLookup(t *testing.T) {
	custom := map[string]strategy.Strategy{"LOWEST": lowest, "ALSO": lowest}
	names := []string{
		"AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", "SINGLE_SHARDING_BALANCE", "STICKY", "WEIGHTED", "LEAST_LOADED", "ALSO", "LOWEST",
	}
	if diff := cmp.Diff(names, strategy.Names(custom)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	r := strategy.Request{Job: "j", Total: 3, Instances: hosts(2)}
	for _, name := range names {
		s, err := strategy.Lookup(name, custom)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := strategy.Check(r, s.Assign(r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	s, err := strategy.Lookup("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(must(t, strategy.AvgAllocation).Assign(r), s.Assign(r)); diff != "" {
		t.Errorf("the default is not AVG_ALLOCATION (-want +got):\n%s", diff)
	}
}

func TestLookupUnknown(t *testing.T) {
	custom := map[string]strategy.Strategy{"LOWEST": lowest}
	for _, name := range []string{"HIGHEST", "sticky", " STICKY", "lowest"} {
		s, err := strategy.Lookup(name, custom)
		if s != nil || !errors.Is(err, strategy.ErrUnknown) {
			t.Errorf("%q: %v, %v, want ErrUnknown", name, s, err)
			continue
		}
		for _, allowed := range append(strategy.Names(custom), name) {
			if !strings.Contains(err.Error(), allowed) {
				t.Errorf("%q: the error does not name %q: %v", name, allowed, err)
			}
		}
	}
}

func TestLookupRefusesBadCustom(t *testing.T) {
	for _, tt := range []struct {
		custom map[string]strategy.Strategy
		want   string
	}{
		{map[string]strategy.Strategy{"": lowest}, "name is empty"},
		{map[string]strategy.Strategy{"STICKY": lowest}, `"STICKY": a built-in`},
		{map[string]strategy.Strategy{"X": nil}, `"X": is nil`},
		{map[string]strategy.Strategy{"X": strategy.Func(nil)}, `"X": is nil`},
	} {
		s, err := strategy.Lookup(strategy.Odevity, tt.custom)
		if s != nil || err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, strategy.ErrUnknown) {
			t.Errorf("%v, %v, want an error with %q", s, err, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	r := strategy.Request{Job: "settle", Total: 2, Instances: hosts(2)}
	nobody := strategy.Request{Job: "settle", Total: 2}
	for _, tt := range []struct {
		name   string
		r      strategy.Request
		owners []string
		want   string // "" means no error
	}{
		{"good", r, owners(1, 0), ""},
		{"no items", strategy.Request{Total: -1}, nil, ""},
		{"nobody there", nobody, owners(-1, -1), ""},
		{"too few", r, owners(0), `job "settle": 1 owners for 2 items`},
		{"too many", r, owners(0, 1, 0), `3 owners for 2 items`},
		{"no owner", r, owners(0, -1), `item 1 has no owner`},
		{"a stranger", r, owners(2, 0), `owner of item 0, "host2"`},
		{"a stranger where nobody is", nobody, owners(-1, 0), `owner of item 1, "host0"`},
	} {
		err := strategy.Check(tt.r, tt.owners)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
