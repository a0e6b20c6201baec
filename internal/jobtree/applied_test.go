package jobtree_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestAppliedDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := jobtree.AppliedDocument{
			Set: rapid.StringMatching(`[a-z0-9:_-]{1,200}`).Draw(t, "set"), By: rapid.StringN(0, 60, 240).Draw(t, "by"),
			At: time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "at")).UTC(),
		}
		if got, err := jobtree.DecodeApplied(jobtree.EncodeApplied(d)); err != nil || got != d {
			t.Fatalf("got %+v, %v, want %+v", got, err, d)
		}
	})
	for _, bad := range []string{"", "set: a/b", "by: anna", "set: [a]", "- a", "{set: a, at: yesterday}"} {
		if got, err := jobtree.DecodeApplied([]byte(bad)); err == nil || got != (jobtree.AppliedDocument{}) {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}
