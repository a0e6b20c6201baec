package docs

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/mdpage"
)

const module = "github.com/elasticjob-go/elasticjob"

// Go in the pages is as gofmt has it, and compiles. Whole programs are vetted; see TestPrograms, too. Fragments of statements and tests run:
// fixture.go says what they find, and for how long.
//
// All of them are packages of one module in a temporary folder, which joins the modules of this repository, so that
// everything is compiled and linked once.
func TestSnippets(t *testing.T) {
	if _, err := os.Stat(root + "/go.work"); err != nil {
		t.Skip("outside of the workspace")
	}
	m := newSnippets(t)
	seen := map[string]bool{}
	for _, page := range selected(t) {
		for _, block := range page.Blocks("go") {
			if formatted, err := format.Source([]byte(block.Text)); err == nil && string(formatted) != block.Text {
				t.Errorf("%s: not as gofmt has it:\n%s", page.At(block.Line), formatted)
			}
			if isNew := !seen[block.Text]; isNew { // a translation may show the same
				m.add(page, block)
				seen[block.Text] = true
			}
		}
		m.endPage()
	}
	if *only == "" && len(seen) < 30 {
		t.Errorf("only %d blocks of Go were found", len(seen))
	}
	m.run()
}

// snippets is a module of what pages show of Go.
type snippets struct {
	*testing.T
	folder   string
	names    map[string]string // import paths of packages by their names
	page     *pkg              // what the fragments of a page share
	packages []*pkg
	programs int
}

// pkg is a package of fragments. Those of a page share one, as long as none declares a name again.
type pkg struct {
	name     string
	declared map[string]bool
	files    []fragment
}

// fragment is a file of a package.
type fragment struct {
	page  mdpage.Page
	block mdpage.Block
	file  *ast.File
	body  *ast.BlockStmt // of statements; nil if it declares something
}

func newSnippets(t *testing.T) *snippets {
	m := &snippets{T: t, folder: t.TempDir(), names: packagesByName(t)}
	work := string(m.read(root + "/go.work"))
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	work = regexp.MustCompile(`(?m)([\t ])(\.\S*)$`).ReplaceAllString(work, `$1"`+strings.ReplaceAll(top, "$", "$$")+`/$2"`)
	m.write("go.work", work+"\nuse .\n")
	m.write("go.work.sum", string(m.read(root+"/go.work.sum")))
	m.write("go.mod", "module snippets\n\ngo 1.26.0\n")
	m.write("fixture/fixture.go", string(m.read("testdata/fixture/fixture.go")))
	return m
}

func (m *snippets) read(name string) []byte {
	text, err := os.ReadFile(name)
	if err != nil {
		m.Fatal(err)
	}
	return text
}

func (m *snippets) write(name, text string) {
	name = filepath.Join(m.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// packagesByName finds the packages that a fragment may use without an import.
func packagesByName(t *testing.T) map[string]string {
	list := func(pattern string) (paths []string) {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", "{{.Name}} {{.ImportPath}}", pattern)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatal("go list: ", err)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	names := map[string]string{
		"clientv3": "go.etcd.io/etcd/client/v3", "zap": "go.uber.org/zap", "zapcore": "go.uber.org/zap/zapcore",
		"prometheus": "github.com/prometheus/client_golang/prometheus", "promhttp": "github.com/prometheus/client_golang/prometheus/promhttp",
		"sdktrace": "go.opentelemetry.io/otel/sdk/trace", "propagation": "go.opentelemetry.io/otel/propagation", "otel": "go.opentelemetry.io/otel",
		"cron": "github.com/robfig/cron/v3", "rand": "math/rand/v2", "template": "text/template", "pprof": "net/http/pprof",
	}
	// Ours before the standard library's; shorter paths, that is, outer ones first.
	for _, pattern := range []string{module + "/...", "std"} {
		lines := list(pattern)
		slices.SortFunc(lines, func(a, b string) int { return len(a) - len(b) })
		for _, line := range lines {
			name, p, _ := strings.Cut(line, " ")
			if _, known := names[name]; !known && name != "main" && !strings.Contains(p, "/internal/") && !strings.Contains(p, "vendor/") && !strings.HasPrefix(p, "internal/") {
				names[name] = p
			}
		}
	}
	return names
}

// add adds a block: a whole program, declarations, or statements. A text that is the name of a file of the page stands
// for that file.
func (m *snippets) add(page mdpage.Page, block mdpage.Block) {
	at := page.At(block.Line)
	for _, file := range page.Blocks("yaml") {
		if name := file.File(); name != "" && strings.Contains(block.Text, strconv.Quote(name)) {
			where := path.Join("files", page.Name, name)
			m.write(where, file.Text)
			block.Text = strings.ReplaceAll(block.Text, strconv.Quote(name), strconv.Quote(filepath.Join(m.folder, filepath.FromSlash(where))))
		}
	}
	if file, err := parser.ParseFile(token.NewFileSet(), at, block.Text, parser.PackageClauseOnly); err == nil {
		if file.Name.Name != "main" {
			m.Errorf("%s: package %s: a whole program is package main; what is shown of another one has no package clause", at, file.Name.Name)
			return
		}
		m.write(fmt.Sprintf("programs/p%03d/main.go", m.programs), line(page, block)+block.Text)
		m.programs++
		return
	}
	f := fragment{page: page, block: block}
	file, err := parser.ParseFile(token.NewFileSet(), "", declarations+block.Text, parser.ParseComments)
	if err != nil {
		text := statements + block.Text + "\n}"
		files := token.NewFileSet()
		var inner error
		if file, inner = parser.ParseFile(files, "", text, parser.ParseComments); inner != nil {
			// Which of the two errors helps depends on what the block is meant to be.
			if regexp.MustCompile(`(?m)^(func \w|func \(|type \w)`).MatchString(block.Text) {
				inner = err
			}
			m.Errorf("%s: in the block, line:column %v (it is neither declarations alone nor statements alone)", at, inner)
			return
		}
		f.body = file.Decls[0].(*ast.FuncDecl).Body
	}
	f.file = file
	if m.page == nil || slices.ContainsFunc(f.declares(), func(name string) bool { return m.page.declared[name] }) {
		m.endPage()
		m.page = &pkg{name: fmt.Sprintf("f%03d", len(m.packages)), declared: map[string]bool{}}
	}
	for _, name := range f.declares() {
		m.page.declared[name] = true
	}
	m.page.files = append(m.page.files, f)
}

// What stands before a block, on its first line, while it is parsed.
const (
	declarations = "package p;"
	statements   = "package p; func f() {"
)

// line begins the lines of a page, for the positions in errors.
func line(page mdpage.Page, block mdpage.Block) string {
	name, err := filepath.Abs(filepath.Join(root, page.Name))
	if err != nil {
		panic(err) // there is no working directory
	}
	return fmt.Sprintf("//line %s:%d\n", name, block.Line)
}

// declares returns the names that a fragment declares for its page, but for methods.
func (f fragment) declares() (names []string) {
	if f.body != nil {
		return nil
	}
	for name := range f.file.Scope.Objects {
		if name != "_" && name != "init" {
			names = append(names, name)
		}
	}
	return names
}

// endPage writes the package of a page.
func (m *snippets) endPage() {
	if m.page == nil {
		return
	}
	p := m.page
	m.page = nil
	m.packages = append(m.packages, p)
	var fragments, tests strings.Builder
	for i, f := range p.files {
		var text string
		if f.body == nil {
			text = f.declaration(m, p)
			for _, name := range f.tests() {
				fmt.Fprintf(&tests, "\t{Name: %q, F: %s},\n", f.page.At(f.block.Line)+" "+name, name)
			}
		} else {
			name := fmt.Sprintf("fragment%d", i)
			text = f.function(m, p, name)
			fmt.Fprintf(&fragments, "\t{At: %q, Run: %s},\n", f.page.At(f.block.Line), name)
		}
		m.write(fmt.Sprintf("%s/f%d.go", p.name, i), text)
	}
	m.write(p.name+"/all.go", "package "+p.name+"\n\nimport (\n\t\"testing\"\n\n\t\"snippets/fixture\"\n)\n\n"+
		"var Fragments = []fixture.Fragment{\n"+fragments.String()+"}\n\nvar Tests = []testing.InternalTest{\n"+tests.String()+"}\n")
}

// uses returns the import declarations of a fragment, and which names of the scope it uses.
func (f fragment) uses(m *snippets, p *pkg) (imports string, scope map[string]bool) {
	unresolved := map[*ast.Ident]bool{}
	scope = map[string]bool{}
	for _, name := range f.file.Unresolved {
		unresolved[name] = true
		scope[name.Name] = true
	}
	paths := map[string]string{}
	ast.Inspect(f.file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok || !unresolved[x] || p.declared[x.Name] || f.body != nil && inScope[x.Name] != "" && !isPackageLog(s) {
			return true
		}
		if isPackageLog(s) {
			scope["log"] = false
		}
		if known, ok := m.names[x.Name]; ok {
			paths[x.Name] = known
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		imports += "import "
		if path.Base(paths[name]) != name {
			imports += name + " "
		}
		imports += strconv.Quote(paths[name]) + "\n"
	}
	return imports, scope
}

// isPackageLog reports whether log in log.X is the package log, and not the logger in scope.
func isPackageLog(s *ast.SelectorExpr) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "log" && regexp.MustCompile(`^(Print|Fatal|Panic|Set|New)`).MatchString(s.Sel.Name)
}

// inScope are the names that statements find, with the fields of fixture.Scope.
var inScope = map[string]string{
	"ctx": "Ctx", "reg": "Reg", "s": "S", "node": "Node", "cfg": "Cfg", "handler": "Handler", "steer": "Steer", "db": "DB", "log": "Log",
}

// declaration returns the file of a fragment that declares something.
func (f fragment) declaration(m *snippets, p *pkg) string {
	imports, _ := f.uses(m, p)
	return "package " + p.name + "\n\n" + imports + "\n" + line(f.page, f.block) + f.block.Text
}

// tests returns the names of the tests that a fragment declares.
func (f fragment) tests() (names []string) {
	for _, d := range f.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") && d.Type.Params.NumFields() == 1 {
			names = append(names, d.Name.Name)
		}
	}
	return names
}

// function returns the file of a fragment of statements. An error that the next statement does not look at ends it.
func (f fragment) function(m *snippets, p *pkg, name string) string {
	imports, scope := f.uses(m, p)
	var open strings.Builder
	for _, name := range slices.Sorted(maps.Keys(inScope)) {
		if scope[name] {
			fmt.Fprintf(&open, "\t%s := scope__.%s\n\t_ = %[1]s\n", name, inScope[name])
		}
	}
	text, offset := f.block.Text, f.body.Lbrace // positions count from 1, and the text begins behind the brace
	var out strings.Builder
	written := 0
	for i, s := range f.body.List {
		end := int(s.End() - offset - 1)
		out.WriteString(text[written:end])
		written = end
		names := assigned(s)
		for _, name := range names {
			out.WriteString("; _ = " + name)
		}
		if slices.Contains(names, "err") && (i+1 == len(f.body.List) || !mentions(f.body.List[i+1], "err")) {
			at := f.block.Line + strings.Count(text[:end], "\n")
			fmt.Fprintf(&out, "; if err != nil { return fixture__.At(%d, err) }", at)
		}
	}
	out.WriteString(text[written:])
	return "package " + p.name + "\n\nimport fixture__ \"snippets/fixture\"\n" + imports +
		"\nfunc " + name + "(scope__ fixture__.Scope) (err error) {\n" + open.String() + "\t{\n" + line(f.page, f.block) + out.String() + "\n\t}\n\treturn err\n}\n\nvar _ = fixture__.At\n"
}

// assigned returns the names that a statement gives values to, as far as they may be unused afterwards.
func assigned(s ast.Stmt) (names []string) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			if name, ok := x.(*ast.Ident); ok && name.Name != "_" {
				names = append(names, name.Name)
			}
		}
	case *ast.DeclStmt:
		d, ok := s.Decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			return nil
		}
		for _, spec := range d.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				names = append(names, name.Name)
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == "_" || name == "err" })
	}
	return names
}

func mentions(s ast.Stmt, name string) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		x, ok := n.(*ast.Ident)
		found = found || ok && x.Name == name
		return !found
	})
	return found
}

// run vets the programs, and compiles and runs the fragments.
func (m *snippets) run() {
	if m.programs > 0 {
		m.goCommand("vet", "./programs/...")
	}
	if len(m.packages) == 0 {
		return
	}
	var main strings.Builder
	main.WriteString("package main\n\nimport (\n\t\"slices\"\n\n\t\"snippets/fixture\"\n")
	var fragments, tests []string
	for _, p := range m.packages {
		fmt.Fprintf(&main, "\t\"snippets/%s\"\n", p.name)
		fragments, tests = append(fragments, p.name+".Fragments"), append(tests, p.name+".Tests")
	}
	fmt.Fprintf(&main, ")\n\nfunc main() {\n\tfixture.Run(slices.Concat(%s), slices.Concat(%s))\n}\n", strings.Join(fragments, ", "), strings.Join(tests, ", "))
	m.write("main.go", main.String())
	// jobtest may ask whether this is a test.
	m.goCommand("run", "-buildvcs=false", "-gcflags=snippets/...=-e", "-ldflags=-w -X testing.testBinary=1", ".")
}

func (m *snippets) goCommand(args ...string) {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), "go", args...)
	cmd.Dir = m.folder
	cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(m.folder, "go.work"), "PWD="+m.folder)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return
	}
	top, absErr := filepath.Abs(root)
	if absErr != nil {
		m.Fatal(absErr)
	}
	relative, relErr := filepath.Rel(m.folder, top) // as the compiler may shorten it
	if relErr != nil {
		m.Fatal(relErr)
	}
	text := strings.NewReplacer(top+"/", "", relative+"/", "").Replace(string(out))
	m.Errorf("go %s: %v\n%s", args[0], err, text)
}
