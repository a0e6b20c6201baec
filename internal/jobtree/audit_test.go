package jobtree_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// An entry is read as it was written, whatever texts it has.
func TestAuditDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringN(0, 60, 240), rapid.SampledFrom([]string{"", "true", "a: b\n- c\n", "\x00", "'\"", "~"}))
		d := jobtree.AuditDocument{
			At: time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "at")).UTC(), By: text.Draw(t, "by"), From: text.Draw(t, "from"), Job: "settle",
			Action: "update", Detail: text.Draw(t, "detail"), Why: text.Draw(t, "why"), Before: text.Draw(t, "before"), After: text.Draw(t, "after"),
			Jobs: rapid.SampledFrom([][]string{nil, {"settle"}, {"a", "订单: [x]", "b"}}).Draw(t, "jobs"),
		}
		if got, err := jobtree.DecodeAudit(jobtree.EncodeAudit(d)); err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("got %+v, %v, want %+v", got, err, d)
		}
	})
}

// What is too long is cut, and says so.
func TestAuditIsCut(t *testing.T) {
	long := strings.Repeat("x", jobtree.MaxAuditText+1)
	value := jobtree.EncodeAudit(jobtree.AuditDocument{By: long, Detail: long, Before: long, After: long, Action: "update"})
	got, err := jobtree.DecodeAudit(value)
	if err != nil || !got.Cut || len(value) > 3*jobtree.MaxAuditText || len(got.By) > 260 {
		t.Errorf("%d bytes, cut %v, %v", len(value), got.Cut, err)
	}
	for _, bad := range []string{"at: yesterday", "cut: perhaps", "- a", "by: [a]", "", strings.Repeat("#", 1<<20)} {
		if got, err := jobtree.DecodeAudit([]byte(bad)); err == nil || !reflect.DeepEqual(got, jobtree.AuditDocument{}) {
			t.Errorf("%.20q: %+v, %v", bad, got, err)
		}
	}
}
