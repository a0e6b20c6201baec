// Package docpage compares the pages of docs with the code, in tests:
//
//	page := docpage.Open(t, "reference/exit-codes.md")
//	page.WantRows(t, want) // the rows of its tables, in this order
package docpage

import (
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/docs"
	"github.com/elasticjob-go/elasticjob/internal/mdpage"
)

// Page is a page, or a part of one.
type Page struct{ mdpage.Page }

// Open reads a page by its path in docs.
func Open(t testing.TB, path string) Page {
	t.Helper()
	text, err := docs.Pages.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Page{mdpage.Page{Name: "docs/" + path, Text: string(text)}}
}

// Section returns the part below a heading, up to the next one of its level or above.
func (p Page) Section(t testing.TB, heading string) Page {
	t.Helper()
	part, isThere := p.Page.Section(heading)
	if !isThere {
		t.Fatalf("%s has no heading %q", p.Name, heading)
	}
	return Page{part}
}

// ByName returns the rows by their first cells, without these.
func (p Page) ByName(t testing.TB) map[string][]string {
	t.Helper()
	table := map[string][]string{}
	for _, row := range p.Rows() {
		if _, isTwice := table[row[0]]; isTwice {
			t.Errorf("%s has two rows %s", p.Name, row[0])
		}
		table[row[0]] = row[1:]
	}
	return table
}

// Names returns the first cells of all rows.
func (p Page) Names() (names []string) {
	for _, row := range p.Rows() {
		names = append(names, row[0])
	}
	return names
}

// WantRows checks that the tables have these rows, in this order. Further cells behind those of want are free.
// The first cell of each row is written as code.
func (p Page) WantRows(t testing.TB, want [][]string) {
	t.Helper()
	got := p.Rows()
	for i := range got {
		if i < len(want) {
			got[i] = got[i][:min(len(got[i]), len(want[i]))]
		}
	}
	if slices.EqualFunc(got, want, slices.Equal) {
		return
	}
	var b strings.Builder
	for _, row := range want {
		cells := slices.Clone(row)
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		cells[0] = "`" + cells[0] + "`"
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	t.Errorf("%s should have these rows, and has %d others:\n%s", p.Name, len(got), &b)
}

// WantHeadings checks that the headings of a level are these, in this order.
func (p Page) WantHeadings(t testing.TB, level int, want []string) {
	t.Helper()
	if got := p.Headings(level); !slices.Equal(got, want) {
		t.Errorf("%s has the headings\n%q, not\n%q", p.Name, got, want)
	}
}
