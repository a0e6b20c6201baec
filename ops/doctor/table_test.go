package doctor_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// The package comment has the table of all kinds. All constants are in it, and all are planted.
func TestTableOfKinds(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	tabled := map[doctor.Kind]bool{}
	for _, k := range doctor.Kinds() {
		fmt.Fprintf(&want, "//\t%-24s%-10s%s\n", k.Kind, k.Worst, k.Meaning)
		tabled[k.Kind] = true
	}
	if !strings.Contains(string(comment), want.String()) {
		t.Errorf("doc.go has another table; it should be\n%s", &want)
	}
	for _, kind := range constants(t) {
		if !tabled[kind] {
			t.Errorf("the table has no %s", kind)
		}
	}
	planted := map[doctor.Kind]bool{}
	for _, c := range plantings() {
		for _, kind := range c.want {
			planted[doctor.Kind(strings.TrimPrefix(string(kind), string(effect(""))))] = true
		}
	}
	for _, c := range storePlantings() {
		for _, kind := range c.want {
			planted[kind] = true
		}
	}
	for kind := range tabled {
		if !planted[kind] {
			t.Errorf("nobody plants %s", kind)
		}
	}
}

// constants returns those of the type Kind.
func constants(t *testing.T) (list []doctor.Kind) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Error(err)
			}
			list = append(list, doctor.Kind(value))
		}
		return true
	})
	if len(list) == 0 {
		t.Error("kind.go has no constants")
	}
	return list
}

// A report can be written as JSON, and read again.
func TestReportAsJSON(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	report := doctor.Report{
		At: at, Jobs: 1, Looks: 2, More: 3,
		Findings: []doctor.Finding{{Kind: doctor.ItemDisabled, Severity: doctor.Info, Job: "settle", Items: []int{0}, Since: at, Cause: "a", Advice: "b", Command: "c"}, {Kind: doctor.NoLeader, Severity: doctor.Critical, Job: "other"}},
		Store:    &coord.StoreFacts{Product: "etcd", Reads: coord.Yes, Writes: coord.No, Members: []coord.MemberFacts{{Address: "a:1", Version: "3.6.1"}}},
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"severity":"info"`, `"reads":"yes"`, `"compacts":"unknown"`, `"since":"2026-03-01T12:00:00Z"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
	var again doctor.Report
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, report) {
		t.Errorf("%+v, %v; want %+v", again, err, report)
	}
	var severity doctor.Severity
	if err := severity.UnmarshalText([]byte("bad")); err == nil {
		t.Error("it is none")
	}
	var answer coord.Answer
	if err := answer.UnmarshalText([]byte("maybe")); err == nil {
		t.Error("it is none")
	}
}
