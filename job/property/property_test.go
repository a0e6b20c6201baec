package property_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func table() property.Table {
	return property.Table{Own: []string{"mill."}, Rows: []property.Row{
		{Name: "mill.name", Required: true, Check: property.Length(5)},
		{Name: "mill.stones", Default: "2", Check: property.Integer(1, 9)},
		{Name: "mill.wind", Default: "true", Check: property.Boolean()},
		{Name: "mill.kind", Check: property.OneOf("POST", "TOWER")},
		{Name: "mill.rest", Default: "1m", Check: property.Duration(time.Second, time.Hour)},
		{Name: "mill.wait.milliseconds", Default: "1500", Check: property.Integer(0, 10_000)},
		{Name: "mill.days", Check: property.Integers(1, 7)},
		{Name: "mill.url", Check: property.URL("http", "https")},
		{Name: "mill.key", Secret: true},
		{Name: "mill.sails.*", Check: property.Integer(1, 4)},
		{Name: "mill.people"},
	}}
}

func read(props map[string]string) (property.Values, error) {
	return table().Read(job.NewProperties(props))
}

func TestValues(t *testing.T) {
	v, err := read(map[string]string{
		"mill.name": "Ada", "mill.stones": "3", "mill.wind": "false", "mill.kind": "TOWER", "mill.rest": "90s", "mill.wait.milliseconds": "20",
		"mill.days": "1, 3-5", "mill.url": "https://${env:HOST}/x", "mill.key": "a ${file:/k} b", "mill.sails.north": "1", "mill.sails.a.b": "2",
		"mill.people": " Ada, ,Bob ", "other": "is nobody's",
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.Text("mill.name") != "Ada" || v.Integer("mill.stones") != 3 || v.Boolean("mill.wind") || v.Duration("mill.rest") != 90*time.Second ||
		v.Milliseconds("mill.wait.milliseconds") != 20*time.Millisecond {
		t.Errorf("got %v", v)
	}
	days := v.Ranges("mill.days")
	for day := range 8 {
		has := slices.ContainsFunc(days, func(r property.Range) bool { return r.Has(day) })
		if want := day == 1 || 3 <= day && day <= 5; has != want {
			t.Errorf("day %d: %v", day, has)
		}
	}
	if got := v.Family("mill.sails.*"); !slices.Equal(got, []property.Pair{{"a.b", "2"}, {"north", "1"}}) {
		t.Errorf("the family is %v", got)
	}
	if got := v.List("mill.people"); !slices.Equal(got, []string{"Ada", "Bob"}) {
		t.Errorf("the list is %q", got)
	}
}

func TestDefaults(t *testing.T) {
	v, err := read(map[string]string{"mill.name": "Ada", "mill.stones": ""})
	if err != nil {
		t.Fatal(err)
	}
	if v.Integer("mill.stones") != 2 || !v.Boolean("mill.wind") || v.Duration("mill.rest") != time.Minute || v.Text("mill.kind") != "" ||
		v.Ranges("mill.days") != nil || v.List("mill.people") != nil || v.Family("mill.sails.*") != nil || v.Integer("mill.days") != 0 {
		t.Errorf("got %v", v)
	}
}

func TestWrongValues(t *testing.T) {
	for name, tc := range map[string]struct{ value, says string }{
		"mill.name":              {"", "props: mill.name: is required"},
		"mill.name ":             {"Hopper", "props: mill.name: 6 bytes: up to 5 bytes are allowed"},
		"mill.stones":            {"10", `props: mill.stones: "10": 1 to 9 are allowed`},
		"mill.stones ":           {"two", `props: mill.stones: "two": 1 to 9 are allowed`},
		"mill.wind":              {"yes", `props: mill.wind: "yes": true, false are allowed`},
		"mill.kind":              {"HORSE", `props: mill.kind: "HORSE": POST, TOWER are allowed`},
		"mill.rest":              {"1", `props: mill.rest: "1": durations from 1s to 1h0m0s, such as 1m30s, are allowed`},
		"mill.rest ":             {"2h", `props: mill.rest: "2h": durations`},
		"mill.wait.milliseconds": {"1.5", `props: mill.wait.milliseconds: "1.5": 0 to 10000 are allowed`},
		"mill.days":              {"1,8", `props: mill.days: "1,8": numbers from 1 to 7 and ranges of them, such as 3,5-7, are allowed`},
		"mill.days ":             {"5-3", `props: mill.days: "5-3": numbers`},
		"mill.days  ":            {"1-2-3", `props: mill.days: "1-2-3": numbers`},
		"mill.url":               {"ftp://secret@host", "props: mill.url: an absolute URL with http or https is allowed"},
		"mill.url ":              {"/path", "props: mill.url: an absolute URL"},
		"mill.key":               {"hunter2", "props: mill.key: is secret, so a reference to what the process has is allowed: ${env:NAME}"},
		"mill.key ":              {"${other:x}", "props: mill.key: is secret"},
		"mill.sails.north":       {"5", `props: mill.sails.north: "5": 1 to 4 are allowed`},
		"mill.sails.":            {"1", "props: mill.sails.: is not known; did you mean mill.sails.*?"},
		"mill.nam":               {"Ada", "props: mill.nam: is not known; did you mean mill.name?"},
	} {
		t.Run(name, func(t *testing.T) {
			props := map[string]string{"mill.name": "Ada"}
			props[strings.TrimSpace(name)] = tc.value
			_, err := read(props)
			var faults *job.ConfigError
			if !errors.As(err, &faults) || len(faults.Faults) != 1 || !strings.HasPrefix(faults.Faults[0].Error(), tc.says) {
				t.Errorf("got %v, want %s", err, tc.says)
			}
			if strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	_, err := read(map[string]string{"mill.stones": "0", "mill.wind": "x"})
	if err == nil || !strings.Contains(err.Error(), "mill.name: is required; props: mill.stones") || !strings.Contains(err.Error(), "mill.wind") {
		t.Errorf("not all faults are listed: %v", err)
	}
}

// A name or a kind that is not the table's is an error of the program.
func TestValuesPanic(t *testing.T) {
	v, err := read(map[string]string{"mill.name": "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(){
		"no such row":  func() { v.Text("mill.none") },
		"no number":    func() { v.Integer("mill.name") },
		"no duration":  func() { v.Duration("mill.name") },
		"no ranges":    func() { v.Ranges("mill.name") },
		"no row of it": func() { v.List("mill.none") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}

func TestExpand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("from a file\r\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 64<<10+1), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MILL_KEY", "${env:HOME} is not looked at")
	item := func(name string) (string, bool, error) { return "7", name == "item", nil }
	for text, tc := range map[string]struct{ want, says string }{
		"":                      {want: ""},
		"plain $ { } text":      {want: "plain $ { } text"},
		"${item}":               {want: "7"},
		"a${item}b${item}c":     {want: "a7b7c"},
		"$${item} ${item}":      {want: "${item} 7"},
		"$$${item}":             {want: "$${item}"},
		"<${env:MILL_KEY}>":     {want: "<${env:HOME} is not looked at>"},
		"${file:" + file + "}":  {want: "from a file"},
		"${env:MILL_NONE}":      {says: `reference "${env:MILL_NONE}": this process has no such variable`},
		"${file:" + file + "x}": {says: "no such file"},
		"${file:" + large + "}": {says: "more than 65536 bytes"},
		"${other}":              {says: `reference "${other}" is not known; $${ stands for ${ itself`},
		"${item":                {says: "does not end with }"},
		"${file:/" + strings.Repeat("x", 1000) + "}": {says: "…"},
	} {
		got, err := property.Expand(text, item, property.FromProcess())
		if got != tc.want || (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%.40q: got %q, %v", text, got, err)
		}
	}
	if got := property.HasReference("$${env:X} ${item}"); got {
		t.Error("a text without a reference to the process is said to have one")
	}
}

// A text in which every ${ is escaped is what it was.
func TestEscapedTextsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("${}ab"))).Draw(t, "text")
		if strings.Contains(text, "$$") {
			return // a $ before ${ cannot be written
		}
		escaped := strings.ReplaceAll(text, "${", "$${")
		if got, err := property.Expand(escaped); err != nil || got != text {
			t.Fatalf("%q: got %q, %v", escaped, got, err)
		}
		if property.HasReference(escaped) {
			t.Fatalf("%q has a reference", escaped)
		}
	})
}
