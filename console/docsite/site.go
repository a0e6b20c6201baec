package docsite

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
)

var (
	//go:embed site.html
	frameText string
	//go:embed site.js
	script []byte
	//go:embed site.css
	style []byte

	frame = template.Must(template.New("site").Parse(frameText))
)

// folders are the parts of the navigation, in its order; the first one is docs/ itself. words are what the frame says,
// in English and in Chinese, whose pages are below zh/.
var (
	folders = []string{"", "start", "operate", "troubleshoot", "understand", "from", "reference", "decisions", "zh"}
	names   = map[string]string{
		"": "Documentation", "start": "Start", "operate": "Operate", "troubleshoot": "Troubleshooting", "understand": "Understand",
		"from": "Come from", "reference": "Reference", "decisions": "Decisions", "zh": "中文",
	}
	words = map[string]map[string]string{
		"en": {"skip": "Skip to the page", "menu": "Contents", "search": "Search", "on": "On this page", "plain": "This page as Markdown", "none": "No page has these words.", "twin": "中文"},
		"zh": {"skip": "跳到正文", "menu": "目录", "search": "搜索", "on": "本页内容", "plain": "本页的 Markdown", "none": "没有页面包含这些词。", "twin": "English"},
	}
)

// repository is where links lead that leave docs/.
const repository = "https://github.com/elasticjob-go/elasticjob/blob/HEAD/"

// link is one of the navigation.
type link struct {
	Href, Text string
	Current    bool
}

// group is a folder of the navigation.
type group struct {
	Name   string
	IsOpen bool
	Links  []link
}

// document is what site.html shows.
type document struct {
	*Page
	Language, Root string
	Content        template.HTML
	Groups         []group
	Words          map[string]string
	Twin           string // the page in the other language
	Plain          string
}

// Files returns the files of the site, by their paths. The style is that of the console, on which the site's own builds;
// sign is its picture.
func (s *Site) Files(consoleStyle, sign []byte) (map[string][]byte, error) {
	files := map[string][]byte{
		"site.css": append(bytes.Clone(consoleStyle), style...), "site.js": script, "sign.svg": sign, "llms.txt": s.llms(),
	}
	var err error
	if files["search.js"], err = s.index(); err != nil {
		return nil, err
	}
	for _, p := range s.Pages {
		if files[p.Address()], err = s.render(p); err != nil {
			return nil, fmt.Errorf("docsite: %s: %w", p.Name, err)
		}
	}
	err = fs.WalkDir(s.files, ".", func(file string, d fs.DirEntry, err error) error { // Markdown, and pictures
		if err == nil && !d.IsDir() {
			files[file], err = fs.ReadFile(s.files, file)
		}
		return err
	})
	for _, p := range s.Pages {
		files[p.Name+".md"] = p.copy
	}
	return files, err
}

// Address returns the path of the page's HTML in the site.
func (p *Page) Address() string { return address(p.Name + ".md") }

func address(file string) string {
	name := strings.TrimSuffix(file, ".md")
	if path.Base(name) == "README" {
		name = path.Join(path.Dir(name), "index")
	}
	return name + ".html"
}

func (s *Site) render(p *Page) ([]byte, error) {
	var content bytes.Buffer
	if err := markdown.Renderer().Render(&content, p.Markdown, p.tree); err != nil {
		return nil, err
	}
	d := document{
		Page: p, Language: "en", Root: strings.Repeat("../", strings.Count(p.Name, "/")), Plain: path.Base(p.Name) + ".md",
		// Texts are escaped, so this is no text. A wide table scrolls by itself, also by keys.
		Content: template.HTML(strings.NewReplacer("<table>", `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`, "</table>", "</table></div>").Replace(content.String())),
	}
	twin := "zh/" + p.Name
	if english, isChinese := strings.CutPrefix(p.Name, "zh/"); isChinese {
		d.Language, twin = "zh", english
	}
	for _, other := range s.Pages {
		folder := other.folder()
		if len(d.Groups) == 0 || d.Groups[len(d.Groups)-1].Name != title(folder) {
			d.Groups = append(d.Groups, group{Name: title(folder), IsOpen: folder == p.folder()})
		}
		g := &d.Groups[len(d.Groups)-1]
		g.Links = append(g.Links, link{Href: d.Root + other.Address(), Text: other.Title, Current: other == p})
		if other.Name == twin {
			d.Twin = d.Root + other.Address()
		}
	}
	d.Words = words[d.Language]
	var out bytes.Buffer
	err := frame.Execute(&out, d)
	return out.Bytes(), err
}

// title returns the name of a folder.
func title(folder string) string {
	if name, ok := names[folder]; ok {
		return name
	}
	return folder
}

// link has the links of a page lead to files of the site, and those of its Markdown that leave docs/ to the repository.
func (s *Site) link(p *Page) {
	var outside []string
	lead := func(from []byte) []byte {
		to := s.lead(p, from)
		if bytes.HasPrefix(to, []byte(repository)) {
			outside = append(outside, "]("+string(from)+")", "]("+string(to)+")")
		}
		return to
	}
	walk(p.tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = lead(n.Destination)
		case *ast.Image:
			n.Destination = lead(n.Destination)
		}
	})
	p.copy = []byte(strings.NewReplacer(outside...).Replace(string(p.Markdown)))
}

// lead returns where a link of a page leads in the site.
func (s *Site) lead(p *Page, destination []byte) []byte {
	to, err := url.Parse(string(destination))
	if err != nil || to.IsAbs() || to.Path == "" {
		return destination
	}
	file := path.Join(path.Dir(p.Name), to.Path)
	if info, err := fs.Stat(s.files, file); err == nil && info.IsDir() {
		to.Path, file = path.Join(to.Path, "README.md"), path.Join(file, "README.md")
	}
	switch _, err := fs.Stat(s.files, file); {
	case err != nil:
		return []byte(repository + path.Join("docs", file) + strings.TrimPrefix(to.String(), to.EscapedPath()))
	case path.Ext(file) == ".md":
		to.Path = address(to.Path)
	}
	return []byte(to.String())
}

// section is an entry of the search.
type section struct {
	Anchor  string `json:"a"`
	Heading string `json:"h"`
	Text    string `json:"t"`
}

// index returns what the search looks through, as a script: a page from file:// may load nothing else.
func (s *Site) index() ([]byte, error) {
	type entry struct {
		Address  string    `json:"p"`
		Title    string    `json:"t"`
		Sections []section `json:"s"`
	}
	var all []entry
	for _, p := range s.Pages {
		e := entry{Address: p.Address(), Title: p.Title}
		for i := range p.Headings {
			h := &p.Headings[i]
			e.Sections = append(e.Sections, section{h.Anchor, h.Text, strings.Join(strings.Fields(h.body.String()), " ")})
		}
		all = append(all, e)
	}
	list, err := json.Marshal(all)
	return fmt.Appendf(nil, "var docs = %s;\n", list), err
}

// llms returns the index for language models.
func (s *Site) llms() []byte {
	var b strings.Builder
	b.WriteString("# ElasticJob for Go\n\n> A Go library that splits cron jobs into items and runs these on equal processes, coordinated by etcd or ZooKeeper.\n")
	at := ""
	for _, p := range s.Pages {
		if name := title(p.folder()); name != at {
			at = name
			fmt.Fprintf(&b, "\n## %s\n\n", name)
		}
		fmt.Fprintf(&b, "- [%s](%s.md): %s\n", p.Title, p.Name, p.Summary)
	}
	return []byte(b.String())
}
