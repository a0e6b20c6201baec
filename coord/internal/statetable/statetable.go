// Package statetable holds a transition table in a comment against the function that it describes.
package statetable

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Check compares the indented lines in the comment of a type with next, which returns the state
// that follows from a state by an event. The first line has the word state and the events; each
// other line has a state, and for each event the state that follows, or a dot if that is the same.
func Check(t *testing.T, file, typeName string, states, events []string, next func(state, event int) int) {
	t.Helper()
	want := [][]string{append([]string{"state"}, events...)}
	for s, state := range states {
		row := []string{state}
		for e := range events {
			if n := next(s, e); n == s {
				row = append(row, ".")
			} else {
				row = append(row, states[n])
			}
		}
		want = append(want, row)
	}
	if got := documented(t, file, typeName); !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("%s: the comment has\n%q\nand the function does\n%q", typeName, got, want)
	}
}

func documented(t *testing.T, file, typeName string) (rows [][]string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE || d.Specs[0].(*ast.TypeSpec).Name.Name != typeName {
			continue
		}
		for line := range strings.Lines(d.Doc.Text()) {
			if strings.HasPrefix(line, "\t") {
				rows = append(rows, strings.Fields(line))
			}
		}
	}
	return rows
}
