package jobtype_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The reference lists all kinds of events, reasons, commands, sources and outcomes, with their texts.
func TestReferenceEvents(t *testing.T) {
	page := docpage.Open(t, "reference/events.md")
	for _, tc := range []struct {
		heading string
		names   []string
		text    func(int) fmt.Stringer
	}{
		{"Kinds of events", constants(t, "EventKind"), func(i int) fmt.Stringer { return jobtype.EventKind(i) }},
		{"Reasons of skipped ticks", constants(t, "SkipReason"), func(i int) fmt.Stringer { return jobtype.SkipReason(i) }},
		{"Commands", constants(t, "Command"), func(i int) fmt.Stringer { return jobtype.Command(i) }},
	} {
		page.Section(t, tc.heading).WantRows(t, rowsOf(tc.names, tc.text))
	}
	ends := rowsOf(constants(t, "Source"), func(i int) fmt.Stringer { return jobtype.Source(i) })
	ends = append(ends, rowsOf(constants(t, "Outcome"), func(i int) fmt.Stringer { return jobtype.Outcome(i) })...)
	page.Section(t, "Sources and outcomes").WantRows(t, ends)
}

func rowsOf(names []string, text func(int) fmt.Stringer) (rows [][]string) {
	for i, name := range names {
		rows = append(rows, []string{name, text(i + 1).String()})
	}
	return rows
}

// constants returns the constants of a type, which count from 1, in their order.
func constants(t *testing.T, typeName string) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			first, ok := group.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident)
			if !ok || first.Name != typeName {
				continue
			}
			for _, spec := range group.Specs {
				names = append(names, spec.(*ast.ValueSpec).Names[0].Name)
			}
		}
	}
	if len(names) < 5 {
		t.Errorf("only %d constants of type %s", len(names), typeName)
	}
	return names
}
