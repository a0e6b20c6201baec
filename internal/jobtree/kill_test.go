package jobtree_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// moments are times that a document can hold.
func moments() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "zero") {
			return time.Time{}
		}
		return time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "ms")).UTC()
	})
}

func readKill(value string) *jobtree.Kill {
	return jobtree.Read(tree(map[string]string{"settle/kill/3": value}), "settle").Kills[3]
}

func TestKillRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.KillDocument{
			Token:    rapid.Int64Min(1).Draw(t, "token"),
			Failover: rapid.Bool().Draw(t, "failover"),
			By:       rapid.StringN(-1, -1, 255).Draw(t, "by"),
			At:       moments().Draw(t, "at"),
		}
		value := string(jobtree.EncodeKill(want))
		got := readKill(value)
		if got.Err != nil || !cmp.Equal(got.KillDocument, want) {
			t.Fatalf("%q gives %+v, %v", value, got.KillDocument, got.Err)
		}
		if !got.Kills(want.Token) || got.Kills(want.Token-1) {
			t.Fatalf("%q kills another run", value)
		}
	})
	// Whoever writes a long name, it can be read.
	if got := readKill(string(jobtree.EncodeKill(jobtree.KillDocument{Token: 1, By: strings.Repeat("ä", 5000)}))); got.Err != nil || len(got.By) > 300 {
		t.Errorf("a long name gives %d bytes, %v", len(got.By), got.Err)
	}
}

// A kill that nobody can read kills nothing, not even a run without a token.
func TestKillsThatKillNothing(t *testing.T) {
	for name, value := range map[string]string{
		"empty": "", "null": "token: ~\n", "no token": "by: anna\n", "zero": "token: 0\n", "negative": "token: -5\n", "text": "all",
		"too large": "token: 9223372036854775808\n", "fraction": "token: 1.5\n", "list": "token: [5]\n", "no YAML": "token: 5: 6",
		"another switch": "token: 5\nfailover: yes please\n", "no time": "token: 5\nat: now\n", "binary": "\x00\xff",
		"twice": "token: 5\ntoken: 6\n", "long": "token: 5\nby: " + strings.Repeat("x", 5000),
	} {
		got := readKill(value)
		if got == nil || got.Err == nil || got.KillDocument != (jobtree.KillDocument{}) || got.Kills(0) || got.Kills(5) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if (*jobtree.Kill)(nil).Kills(0) {
		t.Error("no kill kills")
	}
}
