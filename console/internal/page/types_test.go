package page

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
)

var write = flag.Bool("write", false, "write the types of words that the modules are checked with")

// The modules are checked with the words that there are.
func TestTypesOfWords(t *testing.T) {
	d, err := newDictionary(files)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("// Made by go test ./internal/page -write: the keys of all words.\nexport type Word =\n")
	for _, key := range slices.Sorted(maps.Keys(d[languages[0]])) {
		fmt.Fprintf(&b, "  | %q\n", key)
	}
	compare(t, "app/types/words.d.ts", b.String()+"  ;\n")
}

// compare compares a made file with what it should be, or writes it.
func compare(t *testing.T, name, want string) {
	t.Helper()
	if *write {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not up to date: go test ./internal/page -write", name)
	}
}

// All languages have the same words with the same values, and none that no module, no template and no page needs.
func TestWords(t *testing.T) {
	d, err := newDictionary(files)
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`\{\w+`)
	values := func(word string) []string {
		found := value.FindAllString(word, -1)
		slices.Sort(found)
		return slices.Compact(found)
	}
	for _, language := range languages[1:] {
		for key, word := range d[languages[0]] {
			other, ok := d[language][key]
			switch {
			case !ok:
				t.Errorf("%s has no %s: %s", language, key, word)
			case strings.TrimSpace(other) == "":
				t.Errorf("%s: %s is empty", language, key)
			case !slices.Equal(values(word), values(other)):
				t.Errorf("%s: %s has values %v, not %v", language, key, values(other), values(word))
			}
		}
		for key := range d[language] {
			if _, ok := d[languages[0]][key]; !ok {
				t.Errorf("%s has %s, and %s has not", language, key, languages[0])
			}
		}
	}
	named := map[string]bool{"title": true, "nav": true} // keys, and files whose keys are put together
	for _, found := range regexp.MustCompile("\\b(?:term|has)\\(\\s*[\"`](\\w+)|[\"`](\\w+)\\.\\$\\{|\"(\\w+\\.\\w+)\"").FindAllStringSubmatch(sources(t), -1) {
		named[found[1]+found[2]+found[3]] = true
	}
	for key := range d[languages[0]] {
		if file, _, _ := strings.Cut(key, "."); !named[file] && !named[key] {
			t.Errorf("nobody needs the word %s", key)
		}
	}
}

// sources returns the text of all modules and of the template.
func sources(t *testing.T) string {
	t.Helper()
	a, err := newAssets(files)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := files.ReadFile("frame.html")
	if err != nil {
		t.Fatal(err)
	}
	text := string(frame)
	for name, f := range a.files {
		if strings.HasSuffix(name, ".js") {
			text += string(f.plain)
		}
	}
	return text
}

// Every problem of the API has a text in every language, in words of people.
func TestProblemsHaveWords(t *testing.T) {
	d, err := newDictionary(files)
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile("`([a-z-]+)` (?:\\(|\\|) ?[45]").FindAllStringSubmatch(docpage.Open(t, "reference/http-api.md").Section(t, "Codes").Text, -1)
	if len(codes) < 70 {
		t.Errorf("the reference has %d codes only", len(codes))
	}
	for _, m := range codes {
		code := m[1]
		if d[languages[0]]["problem."+code] == "" {
			t.Errorf("problem %s has no text", code)
		}
	}
}

// Every action that the audit may have, and what says why a job did not run, has a name in every language.
func TestWordsOfOthers(t *testing.T) {
	d, err := newDictionary(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		file, kind, words string
		least             int
	}{{"change", "Action", "action", 30}, {"why/answer", "Kind", "cause", 20}, {"why/answer", "Verdict", "verdict", 6}} {
		source, err := parser.ParseFile(token.NewFileSet(), "../../../ops/"+of.file+".go", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		ast.Inspect(source, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != of.kind {
				return true
			}
			count++
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if d[languages[0]][of.words+"."+word] == "" {
				t.Errorf("%s %s has no text", of.words, word)
			}
			return true
		})
		if count < of.least {
			t.Errorf("%d of %s were found", count, of.words)
		}
	}
}
