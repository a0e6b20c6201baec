package rooms

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// names are those of a package that may be used: only these, or all but never. Nothing
// said means all.
type names struct{ only, never []string }

// pure has what internal/decide may import, with those names that can do nothing but
// compute. A name that is missing here may be added if that is all that it does.
var pure = map[string]names{
	"cmp":       {},
	"errors":    {},
	"fmt":       {only: []string{"Append", "Appendf", "Appendln", "Errorf", "Sprint", "Sprintf", "Sprintln", "Stringer"}},
	"hash/fnv":  {},
	"iter":      {},
	"maps":      {},
	"math":      {},
	"math/bits": {},
	"slices":    {},
	"sort":      {},
	"strconv":   {},
	"strings":   {},
	"time": {never: []string{
		"Now", "Since", "Until", // read the clock
		"Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Timer", "Ticker", // wait
	}},
	// Not Registry, View, Session, Latch and Held, which reach the store, nor Clock, whose
	// methods read the clock.
	module + "/coord": {only: []string{
		"Node", "Snapshot", "SessionID", "ConflictError", "Op", "OpKind",
		"OpCreate", "OpCreateEphemeral", "OpPut", "OpSet", "OpSetAt", "OpDelete", "OpDeleteTree", "OpExists", "OpAbsent", "OpAtVersion", "OpOwned",
		"Absent", "AtVersion", "Create", "CreateEphemeral", "Delete", "DeleteTree", "Exists", "Owned", "Put", "Set", "SetAt",
		"Base", "Join", "Parent", "Within", "ValidatePath", "ValidateRoot", "ValidateCommit", "Cost",
		"ClockPath", "MaxOps", "MaxCommitBytes", "MaxPathLength",
	}},
	module + "/internal/clocks":  {never: []string{"Now", "Wall", "Since", "Until"}}, // read the clock
	module + "/internal/jobtree": {},
	module + "/internal/urgency": {},
	module + "/job/cronexpr":     {},
	module + "/strategy":         {},
}

// decide is the room of the pure steps.
const decide = "../decide"

// The steps decide and do nothing else: they cannot log, wait, read the clock, commit or
// call a handler. The test sees names. What it cannot see is a function that somebody
// hands to a step.
func TestDecideOnlyDecides(t *testing.T) {
	fset := token.NewFileSet()
	files, err := sources(fset, decide)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, e := range effects(fset, file) {
			t.Error(e)
		}
	}
}

// What is pure is no more than what the room may import at all.
func TestPureIsAllowed(t *testing.T) {
	var ours []string
	for imported := range pure {
		if strings.HasPrefix(imported, module) {
			ours = append(ours, relative(imported))
		}
	}
	if more, less := difference(ours, allowed["internal/decide"]); len(more)+len(less) > 0 {
		t.Errorf("the lists differ in %q and %q", more, less)
	}
}

// sources parses the files of a folder that are no tests. A folder without any is an
// error: what holds for nothing shows nothing.
func sources(fset *token.FileSet, dir string) ([]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	var files []*ast.File
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no Go files", dir)
	}
	return files, nil
}

// effects lists what a file has that could do more than compute.
func effects(fset *token.FileSet, file *ast.File) (found []string) {
	report := func(n ast.Node, format string, args ...any) {
		found = append(found, fmt.Sprintf("%s: %s", fset.Position(n.Pos()), fmt.Sprintf(format, args...)))
	}
	imported := map[string]string{} // paths by the name in this file
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			report(spec, "import %s: %v", spec.Path.Value, err)
			continue
		}
		if _, ok := pure[p]; !ok {
			report(spec, "imports %s", p)
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." || name == "_" {
			report(spec, "imports %s as %s", p, name)
		}
		imported[name] = p
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				report(d, "%s has no body", d.Name.Name)
			}
			if d.Recv == nil && d.Name.Name == "init" {
				report(d, "has an init")
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.ValueSpec); ok && !isErrors(spec, imported) {
						report(spec, "the package has the variable %s, which is no error", spec.Names[0].Name)
					}
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "starts a goroutine")
		case *ast.ChanType:
			report(n, "has a channel")
		case *ast.SelectStmt:
			report(n, "selects")
		case *ast.SendStmt:
			report(n, "sends")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n, "receives")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				report(n, "calls %s", f.Name)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || imported[x.Name] == "" {
				break
			}
			if p := imported[x.Name]; !pure[p].has(n.Sel.Name) {
				report(n, "uses %s of %s", n.Sel.Name, p)
			}
		}
		return true
	})
	return found
}

func (n names) has(name string) bool {
	if n.only == nil {
		return !slices.Contains(n.never, name)
	}
	return slices.Contains(n.only, name) || strings.HasPrefix(name, "Err")
}

// isErrors reports whether all that a declaration declares is made by errors.New or by
// fmt.Errorf.
func isErrors(spec *ast.ValueSpec, imported map[string]string) bool {
	if len(spec.Values) != len(spec.Names) {
		return false
	}
	for _, value := range spec.Values {
		call, ok := value.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := f.X.(*ast.Ident)
		if !ok {
			return false
		}
		if made := imported[pkg.Name] + "." + f.Sel.Name; made != "errors.New" && made != "fmt.Errorf" {
			return false
		}
	}
	return true
}

func TestEffectsAreFound(t *testing.T) {
	coord := strconv.Quote(module + "/coord")
	for source, want := range map[string]string{
		`import "log"`:                                     "imports log",
		`import "log/slog"`:                                "imports log/slog",
		`import "context"`:                                 "imports context",
		`import "sync"`:                                    "imports sync",
		`import "os"`:                                      "imports os",
		`import "math/rand/v2"`:                            "imports math/rand/v2",
		`import "unsafe"`:                                  "imports unsafe",
		`import "C"`:                                       "imports C",
		`import "go.uber.org/zap"`:                         "imports go.uber.org/zap",
		`import "` + module + `/job"`:                      "imports " + module + "/job",
		`import "` + module + `/coord/etcd"`:               "imports " + module + "/coord/etcd",
		`import . "time"`:                                  "imports time as .",
		`import _ "time"`:                                  "imports time as _",
		`import "fmt"; func f() { fmt.Println() }`:         "uses Println of fmt",
		`import "fmt"; func f() { fmt.Fprintf(w, "") }`:    "uses Fprintf of fmt",
		`import later "time"; func f() { later.Sleep(1) }`: "uses Sleep of time",
		`import "time"; type w struct { now func() time.Time }; func f() { _ = w{now: time.Now} }`: "uses Now of time",
		`import "time"; func f(t *time.Timer) {}`:                                                  "uses Timer of time",
		`import ` + coord + `; type w struct { coord.Registry }`:                                   "uses Registry of " + module + "/coord",
		`import ` + coord + `; func f(v coord.View) {}`:                                            "uses View of " + module + "/coord",
		`import ` + coord + `; func f(s coord.Session) {}`:                                         "uses Session of " + module + "/coord",
		`import ` + coord + `; func f(l coord.Latch) {}`:                                           "uses Latch of " + module + "/coord",
		`import ` + coord + `; func f(h coord.Held) {}`:                                            "uses Held of " + module + "/coord",
		`import ` + coord + `; type w struct { clock coord.Clock }`:                                "uses Clock of " + module + "/coord",
		`import ` + coord + `; func f() { coord.NewClock(a, b, c) }`:                               "uses NewClock of " + module + "/coord",
		`import c ` + coord + `; func f(c.Registry) {}`:                                            "uses Registry of " + module + "/coord",
		`func f() { go f() }`:       "starts a goroutine",
		`func f(c chan int) {}`:     "has a channel",
		`type c <-chan struct{}`:    "has a channel",
		`func f() { select {} }`:    "selects",
		`func f() { w.asked <- 1 }`: "sends",
		`func f() { <-w.done }`:     "receives",
		`func f() { println() }`:    "calls println",
		`func f() { print() }`:      "calls print",
		`func f()`:                  "f has no body",
		`func init() {}`:            "has an init",
		`var seen map[string]bool`:  "variable seen",
		`var last = 0`:              "variable last",
		`var err error`:             "variable err",
		`import "errors"; var ( ErrA = errors.New("a"); b = 1 )`: "variable b",
		`import "errors"; var errA, b = errors.New("a"), f()`:    "variable errA",
		`var ErrA = errors.New("a")`:                             "variable ErrA", // no package of that name is imported
		`import "errors"; var ErrA = wrap(errors.New("a"))`:      "variable ErrA",
		`import "fmt"; var text = fmt.Sprint("a")`:               "variable text",
	} {
		if found := check(t, source); len(found) != 1 || !strings.Contains(found[0], want) {
			t.Errorf("%s: found %q, want that it %s", source, found, want)
		}
	}
	for p, n := range pure {
		for _, name := range n.never {
			source := fmt.Sprintf("import %q; func f() { _ = %s.%s }", p, path.Base(p), name)
			if found := check(t, source); len(found) != 1 {
				t.Errorf("%s: found %q", source, found)
			}
		}
	}
}

func TestWhatComputesIsAllowed(t *testing.T) {
	coord := strconv.Quote(module + "/coord")
	for _, source := range []string{
		``,
		`import "errors"; var ErrA = errors.New("a")`,
		`import ("errors"; "fmt"); var ( errA, errB = errors.New("a"), fmt.Errorf("b"); ErrC = errors.New("c") )`,
		`import "time"; type w struct { now time.Time }; func (w w) late(d time.Duration) bool { return w.now.Add(d).After(w.now) }`,
		`import ` + coord + `; func f(s coord.Snapshot, err error) []coord.Op { _ = coord.ErrNoNode; return []coord.Op{coord.Absent("x")} }`,
		`type Session struct{}; func (Session) Now() int { return 0 }; func f(s Session) int { return s.Now() }`,
		`const most = 3; func f() { var seen map[string]bool; _ = seen }`,
		`func f(steps []func() bool) { for _, s := range steps { defer s() } }`,
	} {
		if found := check(t, source); found != nil {
			t.Errorf("%s: found %q", source, found)
		}
	}
}

func TestAFolderWithoutSourcesIsAnError(t *testing.T) {
	tests := t.TempDir()
	if err := os.WriteFile(filepath.Join(tests, "step_test.go"), []byte("package decide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), tests, filepath.Join(tests, "unheard")} {
		if files, err := sources(token.NewFileSet(), dir); err == nil {
			t.Errorf("%s has %d files", dir, len(files))
		}
	}
}

// check finds the effects in a package of that source.
func check(t *testing.T, source string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "step.go", "package decide; "+source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return effects(fset, file)
}
