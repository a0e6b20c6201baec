package rooms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The comment of a function begins with the function's name: one that a renaming has left behind misleads.
func TestCommentsBeginWithTheName(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (other == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, isFunc := decl.(*ast.FuncDecl)
			if !isFunc {
				continue
			}
			first, _, _ := strings.Cut(strings.TrimSpace(f.Doc.Text()), " ") // Text leaves directives out
			if first = strings.TrimRight(first, ",.:;"); first != "" && first != "Deprecated" && first != f.Name.Name {
				t.Errorf("%s: the comment of %s begins with %q", files.Position(f.Pos()), f.Name.Name, first)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
