package decide

import (
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table in the package's comment has the decisions of all steps, in the order of the pass.
func TestTableOfSteps(t *testing.T) {
	var want []string
	names := map[string]bool{}
	for _, s := range Steps() {
		if names[s.Name] || s.Roles == 0 {
			t.Errorf("step %q: another one has its name, or it is for nobody", s.Name)
		}
		names[s.Name] = true
		if s.Decisions != "" {
			want = append(want, strings.Split(s.Decisions, ", ")...)
		}
	}
	for _, name := range want {
		if _, ok := reflect.TypeFor[*World]().MethodByName(name); !ok {
			t.Errorf("World has no method %s", name)
		}
	}
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range regexp.MustCompile(`(?m)^\t([A-Z]\w+) {2,}\S`).FindAllStringSubmatch(doc.Doc.Text(), -1) {
		got = append(got, row[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table has\n%v, and the steps are\n%v", got, want)
	}
}
