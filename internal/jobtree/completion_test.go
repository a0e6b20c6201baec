package jobtree_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// ended returns the completion that is read from a value.
func ended(value string) (jobtree.CompletionDocument, error) {
	return jobtree.Read(tree(map[string]string{"settle/sharding/0/completed": value}), "settle").Item(0).Completed.Document()
}

func TestCompletionDocument(t *testing.T) {
	tick := time.Date(2026, 11, 20, 23, 14, 28, 0, time.FixedZone("", 3600))
	got := jobtree.EncodeCompletion(jobtree.CompletionDocument{
		Tick: tick, Token: 12345, Outcome: jobtree.OutcomeFailed, Begun: tick.Add(12 * time.Millisecond), Ended: tick.Add(1512345 * time.Microsecond),
		TaskID: "019a9c3e-7f00-7a31-8c55-0242ac120002", Source: "MISFIRE", Request: "r 1", Error: "disk: \"full\"\n",
	})
	const want = `tick: 2026-11-20T22:14:28.000Z
token: 12345
out: FAILED
beg: 2026-11-20T22:14:28.012Z
end: 2026-11-20T22:14:29.512Z
task: 019a9c3e-7f00-7a31-8c55-0242ac120002
src: MISFIRE
req: r 1
err: "disk: \"full\"\n"
`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCompletions(t *testing.T) {
	tick := time.Date(2026, 11, 20, 23, 14, 28, 5e6, time.UTC)
	for name, tc := range map[string]struct {
		value string
		want  jobtree.CompletionDocument
		bad   bool
	}{
		"nothing":               {},
		"comment only":          {value: "# x\n"},
		"null":                  {value: "tick: ~\ntoken:\nerr: null\n"},
		"some":                  {value: "tick: 2026-11-20T23:14:28.005Z\nout: OK\n", want: jobtree.CompletionDocument{Tick: tick, Outcome: jobtree.OutcomeOK}},
		"in another zone":       {value: "end: 2026-11-21T07:14:28.005+08:00\n", want: jobtree.CompletionDocument{Ended: tick}},
		"an outcome to come":    {value: "out: SKIPPED\n", want: jobtree.CompletionDocument{Outcome: "SKIPPED"}},
		"further keys":          {value: "token: 7\nhost: [a, b]\n", want: jobtree.CompletionDocument{Token: 7}},
		"JSON":                  {value: `{"token": 7, "err": "x"}`, want: jobtree.CompletionDocument{Token: 7, Error: "x"}},
		"a token of text":       {value: "out: OK\ntoken: seven\n", bad: true},
		"a token without end":   {value: "token: " + strings.Repeat("9", 40), bad: true},
		"a tick of text":        {value: "tick: yesterday\n", bad: true},
		"a beginning of text":   {value: "beg: now\n", bad: true},
		"an end of text":        {value: "out: OK\nend: now\n", bad: true},
		"a list as an error":    {value: "err: [x]\n", bad: true},
		"a long task":           {value: "task: " + strings.Repeat("x", 100), bad: true},
		"a long error":          {value: "err: " + strings.Repeat("x", 300), bad: true},
		"a text":                {value: "done", bad: true},
		"not YAML":              {value: "\x00\xff", bad: true},
		"more than is read":     {value: "token: 7\n#" + strings.Repeat("x", 5000), bad: true},
		"another document more": {value: "token: 7\n---\ntoken: 8\n", bad: true},
	} {
		got, err := ended(tc.value)
		if got != tc.want || (err != nil) != tc.bad {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestCompletionRoundTrip(t *testing.T) {
	text := func(most int) *rapid.Generator[string] { return rapid.StringN(-1, -1, most) }
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.CompletionDocument{
			Tick:    time.UnixMilli(rapid.Int64Range(-60e12, 250e12).Draw(t, "tick")).UTC(),
			Token:   rapid.Int64().Draw(t, "token"),
			Outcome: jobtree.Outcome(text(64).Draw(t, "outcome")),
			Ended:   time.UnixMilli(rapid.Int64Range(-60e12, 250e12).Draw(t, "ended")).UTC(),
			TaskID:  text(64).Draw(t, "task"),
			Source:  text(64).Draw(t, "source"),
			Request: text(255).Draw(t, "request"),
			Error:   text(256).Draw(t, "error"),
		}
		value := jobtree.EncodeCompletion(want)
		if got, err := ended(string(value)); err != nil || got != want {
			t.Fatalf("%s gives %+v, %v, want %+v", value, got, err, want)
		}
	})
}

// However an execution ended, its node stays small and can be read.
func TestCompletionIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"letters":               strings.Repeat("x", 900_000),
		"letters of two bytes":  "x" + strings.Repeat("é", 900_000),
		"letters of four bytes": strings.Repeat("𝕏", 300_000),
		"quotes":                strings.Repeat(`"\`, 900_000),
		"lines":                 strings.Repeat("a: b\n", 900_000),
		"control characters":    strings.Repeat("\x01", 900_000),
		"no text":               strings.Repeat("\xff\x00", 900_000),
		"half a letter":         strings.Repeat("x", 255) + "é",
	} {
		value := jobtree.EncodeCompletion(jobtree.CompletionDocument{Token: 7, Outcome: jobtree.Outcome(text), TaskID: text, Source: text, Request: text, Error: text})
		if len(value) > 3<<10 {
			t.Errorf("%s: %d bytes", name, len(value))
		}
		got, err := ended(string(value))
		if err != nil || got.Token != 7 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		shown, cut := strings.CutSuffix(got.Error, "…")
		if !cut || len(shown) > 256 || len(shown) < 100 || !utf8.ValidString(shown) || name != "no text" && !strings.HasPrefix(text, shown) {
			t.Errorf("%s: the error is shown as %q", name, got.Error)
		}
	}
	// A clock may show any time.
	value := jobtree.EncodeCompletion(jobtree.CompletionDocument{Token: 7, Ended: time.Unix(1<<50, 0), Tick: time.Unix(-1<<50, 0)})
	if string(value) != "token: 7\n" {
		t.Errorf("years that cannot be written give %s", value)
	}
}

// A document that was read can be written, and reads the same again.
func FuzzCompletion(f *testing.F) {
	f.Add([]byte("tick: 2026-11-20T23:14:28.005Z\ntoken: 7\nout: OK\nend: 9999-12-31T23:59:59-01:00\n"))
	f.Add([]byte("task: \"a\\tb\"\nsrc: NORMAL_TRIGGER\nreq: 'x'\nerr: |\n\tx\n"))
	f.Add([]byte("err: \"\\xff\\u2028\\U0001D54F\"\nreq: 0x10\nout: null\n"))
	f.Fuzz(func(t *testing.T, value []byte) {
		d, err := jobtree.DecodeCompletion(value)
		if err != nil {
			if len(err.Error()) > 700 || d != (jobtree.CompletionDocument{}) {
				t.Errorf("got %+v, %v", d, err)
			}
			return
		}
		written := jobtree.EncodeCompletion(d)
		again, err := jobtree.DecodeCompletion(written)
		if err != nil || !bytes.Equal(jobtree.EncodeCompletion(again), written) {
			t.Errorf("%q is written as %q and read as %+v, %v", value, written, again, err)
		}
	})
}
