package docpage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/mdpage"
)

// told notes what a test would be told.
type told struct {
	testing.TB
	errors []string
}

func (t *told) Helper() {}
func (t *told) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

func TestWant(t *testing.T) {
	p := Page{mdpage.Page{Name: "a.md", Text: "## one\n\n| a | b | c |\n|---|---|---|\n| `x` | y \\| z | free |\n"}}
	p.WantRows(t, [][]string{{"x", "y | z"}})
	p.WantHeadings(t, 2, []string{"one"})
	var other told
	p.WantRows(&other, [][]string{{"x", "|"}})
	p.WantHeadings(&other, 2, []string{"two"})
	if len(other.errors) != 2 || !strings.Contains(other.errors[0], "| `x` | \\| |") {
		t.Errorf("%q", other.errors)
	}
	if got := p.ByName(t)["x"]; len(got) != 2 || p.Names()[0] != "x" {
		t.Errorf("%q", got)
	}
}

func TestOpen(t *testing.T) {
	if p := Open(t, "decisions/README.md"); len(p.Headings(1)) != 1 {
		t.Errorf("%q", p.Headings(1))
	}
}
