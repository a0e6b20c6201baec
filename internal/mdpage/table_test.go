package mdpage

import (
	"reflect"
	"slices"
	"testing"
)

const tables = "# Title\n\n## one\n\n| a | b |\n|---|:-:|\n| `x` | `y` and `z` |\n| `v \\| w` | |\n\n```sh\n## no heading\n| no | row |\n```\n\n" +
	"### below\n\n## two\n\n| c |\n|---|\n| d |\n"

func TestSections(t *testing.T) {
	p := Page{Name: "a.md", Text: tables}
	if got := p.Headings(2); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%q", got)
	}
	one, isThere := p.Section("one")
	if !isThere || !slices.Equal(one.Headings(3), []string{"below"}) {
		t.Errorf("%v, %q", isThere, one.Text)
	}
	if got, want := one.Rows(), [][]string{{"x", "`y` and `z`"}, {"v | w", ""}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if got := one.Blocks("sh"); len(got) != 1 || got[0].Text != "## no heading\n| no | row |\n" {
		t.Errorf("%v", got)
	}
	if _, isThere := p.Section("no heading"); isThere {
		t.Error("it is none")
	}
	if got := p.Rows(); len(got) != 3 || got[2][0] != "d" {
		t.Errorf("%q", got)
	}
}
