package jobtree_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestRemovalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.RemovalDocument{
			By: rapid.StringN(-1, -1, 255).Draw(t, "by"), Why: rapid.StringN(-1, -1, 255).Draw(t, "why"), At: moments().Draw(t, "at"),
			Revision: rapid.IntMin(0).Draw(t, "revision"), Expired: rapid.Bool().Draw(t, "expired"), Migration: rapid.StringN(-1, -1, 64).Draw(t, "migration"),
		}
		value := jobtree.EncodeRemoval(want)
		if got, err := jobtree.DecodeRemoval(value); err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%q gives %+v, %v", value, got, err)
		}
		if line := want.String(); len(line) > 400 || strings.Contains(line, "\n") && !strings.Contains(want.By, "\n") {
			t.Fatalf("in words: %q", line)
		}
	})
}

func TestRemovalThatNobodyCanRead(t *testing.T) {
	for name, value := range map[string]string{
		"time": "at: now", "switch": "expired: maybe", "number": "revision: many", "negative": "revision: -1", "list": "by: [anna]", "no YAML": "by: a: b",
		"long": "why: " + strings.Repeat("x", 5000), "binary": "\x00\xff",
	} {
		if d, err := jobtree.DecodeRemoval([]byte(value)); err == nil || d != (jobtree.RemovalDocument{}) || len(err.Error()) > 700 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	for _, value := range []string{"", "later: x", "~"} {
		if d, err := jobtree.DecodeRemoval([]byte(value)); err != nil || d != (jobtree.RemovalDocument{}) {
			t.Errorf("%q: %+v, %v", value, d, err)
		}
	}
}
