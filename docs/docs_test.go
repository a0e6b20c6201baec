package docs

import (
	"flag"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/mdpage"
)

// root is the root of the repository.
const root = ".."

var (
	only   = flag.String("page", "", "check this `page` or folder of docs only, or README.md")
	drafts = flag.Bool("drafts", false, "links to pages that do not exist yet are no errors")
)

// selected returns the pages to check.
func selected(t *testing.T) []mdpage.Page {
	t.Helper()
	pages, err := mdpage.List(root)
	if err != nil {
		t.Fatal(err)
	}
	if *only == "" {
		return pages
	}
	prefix := strings.TrimSuffix(strings.TrimPrefix(*only, "docs/"), "/")
	pages = slices.DeleteFunc(pages, func(p mdpage.Page) bool {
		name := strings.TrimPrefix(p.Name, "docs/")
		return name != prefix && !strings.HasPrefix(name, prefix+"/")
	})
	if len(pages) == 0 {
		t.Fatalf("there is no page %s", *only)
	}
	return pages
}

// Pages embeds all pages that there are.
func TestPages(t *testing.T) {
	pages, err := mdpage.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages[1:] {
		if _, err := fs.Stat(Pages, strings.TrimPrefix(page.Name, "docs/")); err != nil {
			t.Errorf("%v: name it in the go:embed of docs.go", err)
		}
	}
}

// A page answers one question, and begins with its title. README.md gets a reader started.
func TestSizeOfPages(t *testing.T) {
	const largest, largestReadme = 130, 200
	for _, page := range selected(t) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(page.Name, "docs/"), "/")
		bound := largest
		switch {
		case page.Name == "README.md", page.Name == "docs/zh/README.md":
			bound = largestReadme
		case folder == "reference" || folder == "decisions":
			bound = 10000
		}
		if page.Lines() > bound {
			t.Errorf("%s has %d lines, at most %d are allowed", page.Name, page.Lines(), bound)
		}
		if !strings.HasPrefix(page.Text, "# ") || !strings.HasSuffix(page.Text, "\n") {
			t.Errorf("%s does not begin with a title, or does not end with a line", page.Name)
		}
	}
}

// Blocks have a language. Those of the shell are right for a shell.
func TestBlocks(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("there is no bash: commands are not checked")
	}
	for _, page := range selected(t) {
		for _, block := range page.Blocks() {
			if !slices.Contains([]string{"go", "console", "yaml", "sh", "text", "json", "sql", "mermaid", "java", "xml"}, block.Language) {
				t.Errorf("%s: a block with the language %q", page.At(block.Line), block.Language)
			}
			if block.Language != "sh" || bash == "" {
				continue
			}
			cmd := exec.CommandContext(t.Context(), bash, "-n")
			cmd.Stdin = strings.NewReader(block.Text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", page.At(block.Line), err, out)
			}
		}
	}
}

// Links within the repository lead somewhere.
func TestLinks(t *testing.T) {
	pages := selected(t)
	if *only == "" {
		for _, name := range []string{"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "integration/README.md"} {
			page, err := mdpage.Read(root, name)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, page)
		}
	}
	for _, page := range pages {
		for _, link := range page.Links() {
			u, err := url.Parse(link.Text)
			if err != nil {
				t.Errorf("%s: %v", page.At(link.Line), err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			name := page.Name
			if u.Path != "" {
				name = path.Join(path.Dir(page.Name), u.Path)
			}
			follow(t, page.At(link.Line), name, u.Fragment)
		}
	}
}

var anchors = map[string]map[string]bool{}

// follow checks that a file and a place in it exist.
func follow(t *testing.T, at, name, anchor string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		if *drafts && path.Ext(name) == ".md" {
			t.Logf("%s: there is no %s yet", at, name)
			return
		}
		t.Errorf("%s: there is no %s", at, name)
		return
	}
	if anchor == "" || path.Ext(name) != ".md" {
		return
	}
	if anchors[name] == nil {
		page, err := mdpage.Read(root, name)
		if err != nil {
			t.Fatal(err)
		}
		anchors[name] = page.Anchors()
	}
	if !anchors[name][anchor] {
		t.Errorf("%s: %s has no place #%s", at, name, anchor)
	}
}

// tree visits the files of the repository that tests read.
func tree(t *testing.T, visit func(name string, text []byte), extensions ...string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && name != "." || slices.Contains([]string{"testdata", "node_modules", "screenshots"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains(extensions, path.Ext(name)) {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				return err
			}
			visit(name, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Pages that code and settings refer to exist.
func TestReferencesToPages(t *testing.T) {
	if *only != "" {
		t.Skip("of all pages")
	}
	page := regexp.MustCompile(`(^|[\s"'(\x60/])(docs/[\w/-]+\.md)(#[\w-]+)?`)
	tree(t, func(name string, text []byte) {
		for _, match := range page.FindAllSubmatch(text, -1) {
			if strings.HasPrefix(name, "docs/") || strings.HasSuffix(name, "_test.go") { // examples of names
				continue
			}
			follow(t, name, string(match[2]), strings.TrimPrefix(string(match[3]), "#"))
		}
	}, ".go", ".yaml", ".js", ".mod", ".sh")
}

// The tests, targets of make and folders that pages name exist.
func TestWhatPagesName(t *testing.T) {
	tests := map[string]bool{}
	tree(t, func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") {
			for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Example|Fuzz)\w*)\(`).FindAllSubmatch(text, -1) {
				tests[string(match[1])] = true
			}
		}
	}, ".go")
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	test := regexp.MustCompile(`^Test[A-Z]\w*$`)
	target := regexp.MustCompile(`(?m)^(?:\$ )?make ([a-z]+)`)
	folder := regexp.MustCompile(`\bgo (?:run|build|test|vet|install)\b[^|;&\n]*? (\./[\w/.-]+)`)
	for _, page := range selected(t) {
		code := page.Code()
		for _, block := range page.Blocks("sh", "console") {
			code = append(code, mdpage.Span{Text: block.Text, Line: block.Line})
		}
		for _, span := range code {
			at := page.At(span.Line)
			if test.MatchString(span.Text) && !tests[span.Text] {
				t.Errorf("%s: there is no test %s", at, span.Text)
			}
			for _, match := range target.FindAllStringSubmatch(span.Text, -1) {
				if !strings.Contains(string(makefile), "\n"+match[1]+":") {
					t.Errorf("%s: the Makefile has no target %s", at, match[1])
				}
			}
			for _, match := range folder.FindAllStringSubmatch(span.Text, -1) {
				if name := strings.TrimSuffix(match[1], "/..."); !exists(name) {
					t.Errorf("%s: there is no %s", at, name)
				}
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// The comment of the root names every package that a program may import.
func TestRootComment(t *testing.T) {
	comment, err := os.ReadFile(root + "/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]bool{}
	tree(t, func(name string, text []byte) {
		folder := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") || regexp.MustCompile(`(^|/)(internal|integration|examples|browsertest|oidctest)(/|$)`).MatchString(folder) {
			return
		}
		folders[folder] = !regexp.MustCompile(`(?m)^package main$`).Match(text)
	}, ".go")
	for folder, isLibrary := range folders {
		if isLibrary && folder != "." && !regexp.MustCompile(`[\s,]`+folder+`[\s,;.]`).Match(comment) {
			t.Errorf("doc.go does not name %s", folder)
		}
	}
}
