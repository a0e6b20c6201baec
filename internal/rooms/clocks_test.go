package rooms

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// Where times of day are recorded and compared, each reading of a clock says which clock it is:
// internal/clocks reads it. time.Now mixes the two.
func TestClocksAreNotMixed(t *testing.T) {
	fset := token.NewFileSet()
	for _, room := range []string{"job", "jobtype", "internal/engine", "internal/engine/diagnose", "internal/engine/exec", "internal/engine/health", "internal/engine/pool", "internal/engine/runner", "internal/request", "internal/decide", "internal/jobtree", "internal/removal", "ops", "ops/doctor", "ops/migrate", "ops/declare", "jobfile"} {
		files, err := sources(fset, "../../"+room)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s: time.%s: use internal/clocks", fset.Position(s.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
}
