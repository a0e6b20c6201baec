package jobtree_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestCursorDocument(t *testing.T) {
	d := jobtree.CursorDocument{Position: "id: 7\n\ttrue", Token: 12345, Number: 3, Moved: time.Date(2026, 11, 20, 23, 14, 28, 5e6, time.UTC)}
	value, err := jobtree.EncodeCursor(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = `position: "id: 7\n\ttrue"
token: 12345
number: 3
moved: 2026-11-20T23:14:28.005Z
`
	if strings.ReplaceAll(string(value), `"2026-11-20T23:14:28.005Z"`, "2026-11-20T23:14:28.005Z") != want {
		t.Errorf("got %s, want %s", value, want)
	}
	if got, err := jobtree.DecodeCursor(value); err != nil || got != d {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Every text of UTF-8 is read as it was written.
func TestCursorsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := jobtree.CursorDocument{
			Position: rapid.String().Draw(t, "position"), Token: rapid.Int64Min(0).Draw(t, "token"), Number: rapid.IntMin(0).Draw(t, "number"),
		}
		value, err := jobtree.EncodeCursor(d)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := jobtree.DecodeCursor(value); err != nil || got != d {
			t.Fatalf("%s is read as %+v, %v", value, got, err)
		}
	})
}

func TestCursors(t *testing.T) {
	for name, tc := range map[string]struct {
		value string
		want  jobtree.CursorDocument
		says  string
	}{
		"nothing":      {},
		"a position":   {value: "position: x", want: jobtree.CursorDocument{Position: "x"}},
		"further keys": {value: "token: 7\nhost: [a]", want: jobtree.CursorDocument{Token: 7}},
		"no mapping":   {value: "x", says: "cursor: "},
		"a list":       {value: "position: [x]", says: "cursor: position: "},
		"a token":      {value: "token: x", says: `cursor: token: "x": an integer is allowed`},
		"a number":     {value: "number: 1.5", says: `cursor: number: "1.5": an integer is allowed`},
		"a time":       {value: "moved: now", says: "cursor: moved: "},
		"too long":     {value: "position: " + strings.Repeat("x", 128<<10), says: "cursor: 131082 bytes, at most 131072 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jobtree.DecodeCursor([]byte(tc.value))
			if got != tc.want || (err == nil) != (tc.says == "") || err != nil && !strings.HasPrefix(err.Error(), tc.says) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
