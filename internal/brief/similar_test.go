package brief_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

func TestSimilar(t *testing.T) {
	names := []string{"settle", "settle-eu", "report", "Ping", "http.tls", "http.method"}
	for text, want := range map[string][]string{
		"setle":                  {"settle"},
		"SETTLE":                 {"settle", "settle-eu"},
		"sett":                   {"settle", "settle-eu"},
		"repotr":                 {"report"},
		"ping":                   {"Ping"},
		"http.metod":             {"http.method"},
		"http.colour":            nil,
		"x":                      nil,
		"something":              nil,
		strings.Repeat("s", 1e6): nil,
	} {
		if got := brief.Similar(text, names); !slices.Equal(got, want) {
			t.Errorf("%.20q: got %v, want %v", text, got, want)
		}
	}
}
