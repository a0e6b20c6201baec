package rooms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Packages that make test runs without the race detector start no goroutine, nor do their
// tests: there would be something to find.
func TestPackagesWithoutTheRaceDetector(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts", "test"))
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(script), "\nsingle=(")
	listed, _, _ = strings.Cut(listed, ")")
	if listed == "" {
		t.Fatal("scripts/test has no packages in single")
	}
	for _, dir := range strings.Fields(listed) {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s of single in scripts/test has no Go files: %v", dir, err)
		}
		for _, file := range files {
			for _, what := range concurrency(t, file) {
				t.Errorf("%s: take %s out of single in scripts/test, so that it is tested with -race", what, dir)
			}
		}
	}
}

// concurrency lists where a file starts goroutines, or could have others start them.
func concurrency(t *testing.T, file string) []string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "a go statement"
		case *ast.SelectorExpr:
			if slices.Contains([]string{"Parallel", "RunParallel", "Go", "AfterFunc"}, n.Sel.Name) {
				what = n.Sel.Name
			}
		case *ast.ImportSpec:
			if slices.Contains([]string{`"sync"`, `"sync/atomic"`, `"testing/synctest"`}, n.Path.Value) {
				what = "import of " + n.Path.Value
			}
		}
		if what != "" {
			found = append(found, files.Position(n.Pos()).String()+": "+what)
		}
		return true
	})
	return found
}
