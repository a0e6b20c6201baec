package cronexpr_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// FuzzParse looks for panics, for errors whose position is wrong, for expressions that
// String changes, and for times of Next and Prev that contradict each other.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/quartz/times.txt", "testdata/quartz/differences-times.txt"} {
		for _, g := range readGoldens(f, file) {
			f.Add(g.expr, int64(1_800_000_000))
		}
	}
	for _, expr := range []string{
		"", " ", "?", "@", "@every", "@every 1m30s", "@every -1s", "@every 1ns", "@daily", "@weekly now", "TZ=UTC * * * * *",
		"*/5 * * * *", "30 4 1,15 * 5", "1-59/7 */3 1-31/2 2,3 SUN,TUE", "0 0 ? * 7",
		"0 0 0 L-L * ?", "0 0 0 ? * #", "0 0 0 ? * 1#1#1", "0 0 0 WWW * ?", "0 0 0 LLW * ?", "- / , * L W", "0 0 0 1 1 ? 99999999999999999999",
		"0 0 0 ſ * ?", "0 0 0 ? * ſun", "\xff * * * * ?", "* * * * * ?\n", "é é é é é é",
	} {
		f.Add(expr, int64(-1))
	}
	loc := lordHowe(f)
	f.Fuzz(func(t *testing.T, expr string, unix int64) {
		s, err := cronexpr.Parse(expr, loc)
		if err != nil {
			checkError(t, expr, err)
			return
		}
		text := s.String()
		again, err := cronexpr.Parse(text, loc)
		if err != nil {
			t.Fatalf("printed as %q: %v", text, err)
		}
		if again.String() != text {
			t.Fatalf("printed as %q, and then as %q", text, again)
		}

		for _, in := range []cronexpr.Language{cronexpr.English, cronexpr.Chinese} {
			if words := s.Explain(in); words == "" || again.Explain(in) != words {
				t.Fatalf("%q is explained as %q, and %q as %q", expr, words, text, again.Explain(in))
			}
		}

		at := time.Unix(unix, 0)
		next, prev := s.Next(at), s.Prev(at)
		if !next.Equal(again.Next(at)) || !prev.Equal(again.Prev(at)) {
			t.Fatalf("%q has other times than %q around %v", text, expr, at)
		}
		if !next.IsZero() {
			if !next.After(at) {
				t.Errorf("after %v comes %v", at, next)
			}
			if got := s.Prev(next); !got.Equal(next) {
				t.Errorf("%v is a time, but its Prev is %v", next, got)
			}
			if got := s.Prev(next.Add(-1)); !got.Equal(prev) {
				t.Errorf("the last time before %v is %v, not %v", next, got, prev)
			}
		}
		if !prev.IsZero() {
			if prev.After(at) {
				t.Errorf("the last time up to %v is %v", at, prev)
			}
			if got := s.Next(prev); !got.Equal(next) {
				t.Errorf("after %v comes %v, not %v", prev, got, next)
			}
		}
		if next.IsZero() && prev.IsZero() {
			t.Errorf("%q has no times", expr)
		}
	})
}

func checkError(t rapid.TB, expr string, err error) {
	t.Helper()
	var e *cronexpr.ParseError
	if !errors.As(err, &e) {
		t.Fatalf("%v is a %T", err, err)
	}
	if e.Expr != expr || e.Problem == "" || e.Error() == "" {
		t.Errorf("%#v does not say enough", e)
	}
	if e.Position < 1 || e.Position > utf8.RuneCountInString(expr)+1 {
		t.Errorf("position %d in %q", e.Position, expr)
		return
	}
	rest := expr
	for range e.Position - 1 {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	if !strings.HasPrefix(rest, e.Text) {
		t.Errorf("%q is not at position %d of %q", e.Text, e.Position, expr)
	}
}
