package rooms

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a reader can hold: the lines of Go without tests in a package and in a file, and the files
// in a folder.
const (
	maxPackage = 6000
	maxFile    = 450
	maxFiles   = 40
)

// budgets are the lines of packages that have a bound of their own: those of the engine, and the
// packages that were larger when there were no bounds. Those only become smaller.
var budgets = map[string]int{
	"job":                             5000,
	"internal/engine":                 3840,
	"internal/engine/assign":          4000,
	"internal/engine/commit":          4000,
	"internal/engine/diagnose":        4000,
	"internal/engine/exec":            4000,
	"internal/engine/health":          4000,
	"internal/engine/instance":        4000,
	"internal/engine/jvm":             4000,
	"internal/engine/once":            4000,
	"internal/engine/pace":            4000,
	"internal/engine/pool":            4000,
	"internal/engine/runner":          4000,
	"internal/engine/schedule":        4000,
	"internal/engine/setup":           4000,
	"internal/decide":                 6690,
	"internal/jobtree":                3170,
	"ops":                             6400,
	"cmd/elasticjob/internal/command": 7070,
}

// largeFiles and largeFolders are what was larger when there were no bounds, with its lines or
// files. It only becomes smaller.
var (
	largeFiles = map[string]int{
		"internal/decide/guarantee.go": 460,
	}
	largeFolders = map[string]int{
		"internal/decide": 49,
		"ops":             41,
	}
)

// No package, file or folder grows beyond what a reader can hold. What a generator writes nobody has to.
func TestSizes(t *testing.T) {
	lines, files := map[string]int{}, map[string]int{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated ")) {
			return err
		}
		n, folder := bytes.Count(text, []byte("\n")), filepath.ToSlash(filepath.Dir(name))
		lines[folder] += n
		files[folder]++
		compare(t, name, "lines", n, maxFile, largeFiles)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range lines {
		bound, ok := budgets[folder]
		if !ok {
			bound = maxPackage
		}
		if n > bound {
			t.Errorf("%s has %d lines of Go without tests, at most %d are allowed: split it, or say it in fewer", folder, n, bound)
		}
		compare(t, folder, "files", files[folder], maxFiles, largeFolders)
	}
}

// compare holds a number against a bound, or against what is listed as larger.
func compare(t *testing.T, name, what string, n, bound int, larger map[string]int) {
	t.Helper()
	switch listed, ok := larger[name]; {
	case !ok && n > bound:
		t.Errorf("%s has %d %s, at most %d are allowed", name, n, what, bound)
	case ok && n > listed:
		t.Errorf("%s has %d %s, and had %d; it is only to become smaller", name, n, what, listed)
	case ok && n <= bound:
		t.Errorf("%s has %d %s, which is within the bound: it need not be listed", name, n, what)
	}
}
