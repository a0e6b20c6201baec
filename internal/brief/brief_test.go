package brief_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

func TestText(t *testing.T) {
	hundred := strings.Repeat("x", 100)
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{hundred, hundred},
		{hundred + "y", hundred + "…"},
		{hundred[1:] + "é", hundred[1:] + "…"},
		{hundred[3:] + "😀😀", hundred[3:] + "…"},
		{strings.Repeat("\x80", 200), strings.Repeat("\x80", 100) + "…"},
	} {
		if got := brief.Text(tc.text); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
	if got := brief.Quote("a\n\"b\""); got != `"a\n\"b\""` {
		t.Errorf("quoted as %s", got)
	}
	if got := brief.Quote(hundred + "y"); got != `"`+hundred+`"…` {
		t.Errorf("quoted as %s", got)
	}
	if got := brief.Quote(strings.Repeat("é", 1<<20)); len(got) > 110 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestList(t *testing.T) {
	var l brief.List
	if !l.Empty() {
		t.Error("a new list is not empty")
	}
	for i := range 7 {
		l.Add(fmt.Sprint(i))
	}
	if got, want := l.String(), `"0", "1", "2", "3", "4" and 2 more`; l.Empty() || got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestError(t *testing.T) {
	if brief.Error(nil) != nil || brief.Error(io.EOF) != io.EOF {
		t.Error("a short error is not the same")
	}
	long := fmt.Errorf("%s: %w", strings.Repeat("x", 1<<20), io.EOF)
	if got := brief.Error(long); len(got.Error()) > 510 || !errors.Is(got, io.EOF) {
		t.Errorf("%d bytes, %v in its chain", len(got.Error()), errors.Is(got, io.EOF))
	}
}
