package show_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
)

func TestLine(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"plain text, 中文 é", "plain text, 中文 é"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"a\nb\tc\r", `a\nb\tc\x0d`},
		{"\u009b31m", `\u009b31m`},       // the same sequence in one character
		{"abc\u202edef", `abc\u202edef`}, // turns the direction of writing
		{"a\u00a0b", `a\u00a0b`},         // looks like a space
		{"\U000e0041", `\U000e0041`},     // a tag, which nobody sees
		{"bad \xff bytes", `bad \xff bytes`},
		{"\uFFFD", "\uFFFD"},
	} {
		if got := show.Line(tc.text); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.text, got, tc.want)
		}
	}
	if got, want := show.Lines("a\tb\x1b\nc"), "a\tb\\x1b\nc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// row is a result with texts of others.
type row struct {
	Text  string            `json:"text"`
	More  map[string]string `json:"more"`
	Count int               `json:"count"`
}

// Whatever stands in a store: no format lets anything through that is not printed, and programs read
// what was there.
func TestNothingReachesTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := row{Text: rapid.String().Draw(t, "text"), More: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "more"), Count: rapid.Int().Draw(t, "count")}
		for _, format := range show.Formats() {
			var out bytes.Buffer
			err := show.Printer{Out: &out, Format: format, Width: rapid.IntRange(0, 100).Draw(t, "width")}.Print(show.Result{
				Value: want, Names: func() []string { return []string{want.Text} },
				Table: func() *show.Table {
					table := show.NewTable("TEXT", "(COUNT)")
					table.Head, table.Foot = want.Text, want.Text
					table.Row(want.Text, want.Count)
					one := show.NewTable()
					one.Field("Text", want.Text)
					table.Section(want.Text, one)
					table.Section("Lines:", show.Text(want.Text))
					return table
				},
			})
			if format.ForPeople() {
				p := show.Printer{Out: &out, Format: format}
				err = errors.Join(err, p.Say("%s", want.Text), p.Print(show.Result{Table: func() *show.Table { return &show.Table{Empty: want.Text} }}))
			}
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			for _, r := range out.String() {
				if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
					t.Fatalf("%s lets %U through: %q", format, r, out.String())
				}
			}
			var got row
			switch format {
			case show.JSON:
				err = json.Unmarshal(out.Bytes(), &got)
			case show.YAML:
				err = yaml.Unmarshal(out.Bytes(), &got)
			default:
				continue
			}
			if err != nil || got.Text != want.Text || got.Count != want.Count || len(got.More) != len(want.More) {
				t.Fatalf("%s: got %+v, %v, want %+v, from %s", format, got, err, want, out.String())
			}
		}
	})
}

func TestTable(t *testing.T) {
	table := show.NewTable("JOB", "STATUS", "(CRON)", "DESCRIPTION")
	table.Row("settle", "OK", "0 0 3 * * ?", "")
	table.Row("结算", "CRASHED", "", "a long description of what this job does")
	table.Foot = "2 jobs"
	for _, tc := range []struct {
		format show.Format
		width  int
		want   string
	}{
		{show.TableFormat, 0, `
JOB     STATUS   DESCRIPTION
settle  OK       -
结算    CRASHED  a long description of what this job does

2 jobs
`},
		{show.TableFormat, 40, `
JOB     STATUS   DESCRIPTION
settle  OK       -
结算    CRASHED  a long description of …

2 jobs
`},
		{show.Wide, 40, `
JOB     STATUS   CRON         DESCRIPTION
settle  OK       0 0 3 * * ?  -
结算    CRASHED  -            a long description of what this job does

2 jobs
`},
	} {
		var out strings.Builder
		if err := (show.Printer{Out: &out, Format: tc.format, Width: tc.width}).Print(show.Result{Table: func() *show.Table { return table }}); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + out.String(); got != tc.want {
			t.Errorf("%s in %d columns: got %s, want %s", tc.format, tc.width, got, tc.want)
		}
	}
	var out strings.Builder
	empty := show.NewTable("JOB")
	empty.Empty = "No job."
	if err := (show.Printer{Out: &out, Format: show.TableFormat}).Print(show.Result{Table: func() *show.Table { return empty }}); err != nil || out.String() != "No job.\n" {
		t.Errorf("an empty table: %q, %v", out.String(), err)
	}
}

func TestFormats(t *testing.T) {
	var f show.Format
	for _, known := range show.Formats() {
		if err := f.Set(string(known)); err != nil || f != known {
			t.Errorf("%s: %v, %v", known, f, err)
		}
	}
	if err := f.Set("xml"); err == nil || !strings.Contains(err.Error(), "table, wide, json, yaml, name") {
		t.Errorf("xml: %v", err)
	}
	if err := (show.Printer{Format: show.Name}).Print(show.Result{}); err == nil {
		t.Error("names of what has none")
	}
}
