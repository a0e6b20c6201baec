package docsite_test

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/elasticjob-go/elasticjob/console/docsite"
	"github.com/elasticjob-go/elasticjob/console/internal/page"
	"github.com/elasticjob-go/elasticjob/internal/mdpage"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

const repository = "https://github.com/elasticjob-go/elasticjob/blob/HEAD/"

// All that a page of the project's site refers to is there, down to the anchors; nothing is lost of its Markdown; and it
// has nothing that the console's content security policy forbids.
func TestSite(t *testing.T) {
	files, err := page.Docs()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, link := range (mdpage.Page{Name: name, Text: string(text)}).Links() {
			to, _, _ := strings.Cut(link.Text, "#")
			if there, ok := strings.CutPrefix(to, repository); ok {
				if _, err := os.Stat("../../" + there); err != nil {
					t.Errorf("%s:%d links %s, which is not in the repository", name, link.Line, there)
				}
			} else if to != "" && !strings.Contains(to, "://") && files[path.Join(path.Dir(name), to)] == nil {
				t.Errorf("%s:%d links %s, which is not in the site", name, link.Line, to)
			}
		}
	}
	reference := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	forbidden := regexp.MustCompile(`<script>|<style|\sstyle=|\son\w+=|raw HTML omitted`)
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		if found := forbidden.Find(text); found != nil {
			t.Errorf("%s has %s", name, found)
		}
		for _, found := range reference.FindAllSubmatch(text, -1) {
			to, err := url.Parse(strings.ReplaceAll(string(found[1]), "&amp;", "&"))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if there, ok := strings.CutPrefix(to.String(), repository); ok {
				if _, err := os.Stat("../../" + strings.TrimSuffix(there, "#"+to.Fragment)); err != nil {
					t.Errorf("%s links %s, which is not in the repository", name, there)
				}
			}
			if to.IsAbs() {
				continue
			}
			file := path.Join(path.Dir(name), to.Path)
			if to.Path == "" {
				file = name
			}
			if files[file] == nil {
				t.Errorf("%s refers to %s, which is not there", name, found[1])
			} else if to.Fragment != "" && !strings.Contains(string(files[file]), ` id="`+to.Fragment+`"`) {
				t.Errorf("%s refers to %s, an anchor that is not there", name, found[1])
			}
		}
	}
}

// Every page of docs/ is in the site, in the index for language models and in the search, with its headings.
func TestPages(t *testing.T) {
	site, err := docsite.Project()
	if err != nil {
		t.Fatal(err)
	}
	files, err := page.Docs()
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(os.DirFS("../../docs"), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".md" && !strings.HasPrefix(file, "testdata/") && (files[file] == nil || len(site.Find(file)) != 1) {
			t.Errorf("%s is not in the site: does docs.go embed it?", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	search, llms := string(files["search.js"]), string(files["llms.txt"])
	for _, p := range site.Pages {
		if files[p.Address()] == nil || bytes.Count(files[p.Name+".md"], []byte("\n")) != bytes.Count(p.Markdown, []byte("\n")) || !slices.Equal(site.Find(p.Name), []*docsite.Page{p}) {
			t.Errorf("%s is not there", p.Name)
		}
		if p.Summary == "" || strings.Contains(p.Summary, "\n") || !strings.Contains(llms, "]("+p.Name+".md): "+p.Summary+"\n") {
			t.Errorf("llms.txt says nothing of %s: %q", p.Name, p.Summary)
		}
		for i := range p.Headings {
			if !strings.Contains(search, `{"a":"`+p.Headings[i].Anchor+`",`) {
				t.Errorf("the search does not know %s#%s", p.Name, p.Headings[i].Anchor)
			}
		}
	}
}

// What the console links is there: each kind of fault, each finding, and each field of a configuration.
func TestLinksOfTheConsole(t *testing.T) {
	files, err := page.Docs()
	if err != nil {
		t.Fatal(err)
	}
	fields, err := os.ReadFile("../internal/page/app/settings-fields.js")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for k := jobtype.FaultConfig; k <= jobtype.FaultCalendar; k++ {
		want["faults"] = append(want["faults"], k.String())
	}
	for _, k := range doctor.Kinds() {
		want["findings"] = append(want["findings"], string(k.Kind))
	}
	for _, f := range regexp.MustCompile(`key: "([\w.: ]+)"`).FindAllSubmatch(fields, -1) {
		if key := string(f[1]); key != "jobExecutorThreadPoolSizeProviderType" { // told with the number of threads
			want["configuration"] = append(want["configuration"], key)
		}
	}
	for name, anchors := range want {
		text := string(files["reference/"+name+".html"])
		for _, a := range anchors {
			if !strings.Contains(text, ` id="`+docsite.Anchor(a)+`"`) {
				t.Errorf("reference/%s.md has no heading and no cell %s", name, a)
			}
		}
	}
}

var small = fstest.MapFS{
	"README.md": {Data: []byte("# Docs\n\nAll of it.\n\n[b](start/b.md), [a](start/a.md)\n")},
	"start/a.md": {Data: []byte("# A\n\nShort. This is what page A is about. More.\n\n## The `x.Y`: rule\n\none\n\n### Deeper\n\n```go\nx := 1\n```\n\n## The x.Y rule\n\ntwo <b>\n\n" +
		"[b](b.md#the-rule) [all](../README.md) [zh](../zh) [code](../../job/doc.go#L3) [out](https://go.dev/)\n\n| key | means |\n|---|--:|\n| `props: cron.more` | more |\n")},
	"start/b.md":   {Data: []byte("# B\n\nThis.\n\n## The rule\n")},
	"from/b.md":    {Data: []byte("# B\n\nThat.\n")},
	"zh/b.md":      {Data: []byte("# B\n\n这是 B。\n")},
	"zh/only.md":   {Data: []byte("# C\n\n这是 C。\n")},
	"zh/README.md": {Data: []byte("# 文档\n\n这是文档。\n\n## 为什么 `x`\n\n因为。\n")},
	"picture.png":  {Data: []byte("png")},
}

func TestSmallSite(t *testing.T) {
	site, err := docsite.New(small)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range site.Pages {
		names = append(names, p.Name)
	}
	if want := []string{"README", "start/b", "start/a", "from/b", "zh/README", "zh/b", "zh/only"}; !slices.Equal(names, want) {
		t.Errorf("pages %q, want %q", names, want)
	}
	for name, want := range map[string]string{
		"start/a": "start/a", "docs/" + "start/a.md": "start/a", "a": "start/a", "zh": "zh/README", "zh/": "zh/README", "README": "README", "c": "", "rt/a": "", "": "README",
		"b": "start/b from/b", "from/b": "from/b", "only": "zh/only",
	} {
		var got []string
		for _, p := range site.Find(name) {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Find(%q) is %q, want %q", name, got, want)
		}
	}
	a := site.Find("a")[0]
	if want := "Short. This is what page A is about. More"; a.Title != "A" || a.Summary != want {
		t.Errorf("%q, %q", a.Title, a.Summary)
	}
	for anchor, want := range map[string]string{
		"the-xy-rule":   "## The `x.Y`: rule\n\none\n\n### Deeper\n\n```go\nx := 1\n```\n\n",
		"deeper":        "### Deeper\n\n```go\nx := 1\n```\n\n",
		"the-xy-rule-1": string(a.Markdown[strings.Index(string(a.Markdown), "## The x.Y rule"):]),
	} {
		if got, ok := a.Section(anchor); !ok || string(got) != want {
			t.Errorf("%s: %q", anchor, got)
		}
	}
	if _, ok := a.Section("none"); ok {
		t.Error("a section that is not there")
	}
	files, err := site.Files([]byte(":root{}"), []byte("<svg/>"))
	if err != nil {
		t.Fatal(err)
	}
	for file, parts := range map[string][]string{
		"start/a.html": {
			`href="b.html#the-rule"`, `href="../index.html"`, `href="../zh/index.html"`, `href="` + repository + `job/doc.go#L3"`, `href="https://go.dev/"`,
			`<td id="props-cronmore">`, `align="right"`, `href="a.md"`, `data-root="../"`, `aria-current="page">A<`,
		},
		"zh/index.html": {`lang="zh-CN"`, `id="为什么-x"`, `搜索`, `href="../index.html" id="docs-twin"`},
		"index.html":    {`href="zh/index.html" id="docs-twin"`},
		"search.js":     {`"t":"x := 1"`, `"a":"为什么-x"`},
		"picture.png":   {"png"}, "site.css": {":root{}", "article"}, "start/b.md": {"## The rule"},
		"start/a.md": {"[b](b.md#the-rule) [all](../README.md)", "[code](" + repository + "job/doc.go#L3) [out](https://go.dev/)"},
	} {
		for _, part := range parts {
			if !strings.Contains(string(files[file]), part) {
				t.Errorf("%s has no %s:\n%s", file, part, files[file])
			}
		}
	}
}

func TestAPageWithoutTitle(t *testing.T) {
	for _, text := range []string{"", "text\n", "## Two\n", "text\n\n# Late\n"} {
		if _, err := docsite.New(fstest.MapFS{"a.md": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), "a.md does not begin") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
