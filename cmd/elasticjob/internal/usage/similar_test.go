package usage

import (
	"slices"
	"strings"
	"testing"
)

func TestSimilar(t *testing.T) {
	names := []string{"settle", "settle-eu", "report", "Ping"}
	for text, want := range map[string][]string{
		"setle":                  {"settle"},
		"SETTLE":                 {"settle", "settle-eu"},
		"sett":                   {"settle", "settle-eu"},
		"repotr":                 {"report"},
		"ping":                   {"Ping"},
		"x":                      nil,
		"something":              nil,
		strings.Repeat("s", 1e6): nil,
	} {
		if got := Similar(text, names); !slices.Equal(got, want) {
			t.Errorf("%.20q: got %v, want %v", text, got, want)
		}
	}
	if got := DidYouMean([]string{"a", "b"}); got != `; did you mean "a" or "b"?` {
		t.Errorf("got %s", got)
	}
}
