package mdpage

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const text = "# A page\n\nA [link](b.md#x), `[no](c.md)`, ![p](i.png \"t\").\n\n```go\n# no heading [n](d.md)\n```\n" +
	"* in a list\n\n  ~~~sh\n  ls\n    -l\n  ~~~\n\n## `fault-name`: what's new, at 5 s?\n## A page\n[r]: e.md\n"

func TestPage(t *testing.T) {
	p := Page{Name: "a.md", Text: text}
	if got, want := p.Blocks(), []Block{{"go", "# no heading [n](d.md)\n", 6}, {"sh", "ls\n  -l\n", 11}}; !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
	if got := p.Blocks("sh"); len(got) != 1 || p.At(got[0].Line) != "a.md:11" {
		t.Errorf("%v", got)
	}
	if got, want := p.Links(), []Span{{"b.md#x", 3}, {"i.png", 3}, {"e.md", 17}}; !slices.Equal(got, want) {
		t.Errorf("links %v, want %v", got, want)
	}
	if got, want := p.Code(), []Span{{"[no](c.md)", 3}, {"fault-name", 15}}; !slices.Equal(got, want) {
		t.Errorf("code %v, want %v", got, want)
	}
	want := []string{"a-page", "a-page-1", "fault-name-whats-new-at-5-s"}
	if got := slices.Sorted(maps.Keys(p.Anchors())); !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
}

func TestList(t *testing.T) {
	pages, err := List("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 5 || pages[0].Name != "README.md" || pages[0].Lines() == 0 {
		t.Errorf("%d pages", len(pages))
	}
}

func TestDocuments(t *testing.T) {
	p := Page{Name: "a.md", Text: "```yaml\n# jobs.yaml\njobs: {}\n---\nkind: ConfigMap\ndata:\n  console.yaml: |\n    hosts: []\n```\n```yaml\n- a\n```\n```yaml\na: [\n```\n"}
	got, err := p.Documents()
	if err == nil || !strings.Contains(err.Error(), "a.md:14: ") {
		t.Errorf("%v", err)
	}
	if len(got) != 4 || got[0].Name != "jobs.yaml" || !got[0].Has("jobs") || got[2].Name != "console.yaml" || !got[2].Has("hosts") || got[2].Line != 2 || got[3].Has("a") {
		t.Errorf("%+v", got)
	}
}
