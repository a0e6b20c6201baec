package docsite

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/elasticjob-go/elasticjob/docs"
)

// Site has the pages, in the order of the navigation.
type Site struct {
	Pages []*Page
	files fs.FS
}

// Page is a page of the documentation.
type Page struct {
	// Name is its path below docs/ without .md: reference/faults.
	Name string
	// Title is its first heading, Summary how its first paragraph begins.
	Title, Summary string
	// Headings are those of the page's top level; the title is the first.
	Headings []Heading
	Markdown []byte

	tree ast.Node
	copy []byte // the Markdown that the site has beside the page
}

// Heading is a heading, and what the search knows of its section.
type Heading struct {
	Level        int
	Text, Anchor string
	start        int // of its line in the Markdown
	body         strings.Builder
}

// markdown is the part of GFM that the pages use. A cell's alignment is an attribute: the console allows no inline
// styles. Raw HTML is left out.
var markdown = goldmark.New(goldmark.WithExtensions(
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify,
))

// comment is what tests and generators have left in a page for themselves, on a line of its own.
var comment = regexp.MustCompile(`(?m)^<!--.*-->$`)

// Project returns the site of the project's own pages.
var Project = sync.OnceValues(func() (*Site, error) { return New(docs.Pages) })

// New reads all Markdown files of a file system.
//
// Errors: one that says which page has no title.
func New(files fs.FS) (*Site, error) {
	s := &Site{files: files}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		source, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		shown := comment.ReplaceAllFunc(source, func(c []byte) []byte { return bytes.Repeat([]byte(" "), len(c)) })
		p := &Page{Name: strings.TrimSuffix(file, ".md"), Markdown: source, tree: markdown.Parser().Parse(text.NewReader(shown))}
		if p.read(); p.Title == "" {
			return fmt.Errorf("%s does not begin with a title", file)
		}
		s.Pages = append(s.Pages, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("docsite: %w", err)
	}
	s.sort()
	for _, p := range s.Pages {
		s.link(p)
	}
	return s, nil
}

// sort brings the pages into the order in which the first page names them, folder by folder.
func (s *Site) sort() {
	var first string
	if i := slices.IndexFunc(s.Pages, func(p *Page) bool { return p.Name == "README" }); i >= 0 {
		first = string(s.Pages[i].Markdown)
	}
	place := func(p *Page) (folder, within int) {
		folder = slices.Index(folders, p.folder())
		if within = strings.Index(first, "("+p.Name+".md"); within < 0 {
			within = len(first)
		}
		if path.Base(p.Name) == "README" {
			within = -1
		}
		return folder, within
	}
	slices.SortStableFunc(s.Pages, func(a, b *Page) int {
		af, aw := place(a)
		bf, bw := place(b)
		if af != bf {
			return af - bf
		}
		return aw - bw
	})
}

// folder is the first folder of a page; empty for those of docs/ itself.
func (p *Page) folder() string {
	folder, _, isBelow := strings.Cut(p.Name, "/")
	if !isBelow {
		return ""
	}
	return folder
}

// Find returns the page that a name stands for: its path, with or without .md, or its folder, if it is the folder's
// README. If there is none, it returns all whose path ends so; pages in Chinese only if there is no other.
func (s *Site) Find(name string) []*Page {
	name = strings.TrimSuffix(strings.Trim(strings.TrimPrefix(name, "docs/"), "/"), ".md")
	var found, chinese []*Page
	for _, p := range s.Pages {
		switch {
		case p.Name == name || p.Name == path.Join(name, "README"):
			return []*Page{p}
		case !strings.HasSuffix(p.Name, "/"+name):
		case p.folder() == "zh":
			chinese = append(chinese, p)
		default:
			found = append(found, p)
		}
	}
	if found == nil {
		return chinese
	}
	return found
}

// Section returns the Markdown of the heading with an anchor, and all below it.
func (p *Page) Section(anchor string) (section []byte, ok bool) {
	for i := range p.Headings {
		h := &p.Headings[i]
		if h.Anchor != anchor {
			continue
		}
		end := len(p.Markdown)
		for j := range p.Headings[i+1:] {
			if next := &p.Headings[i+1+j]; next.Level <= h.Level {
				end = next.start
				break
			}
		}
		return p.Markdown[h.start:end], true
	}
	return nil, false
}

// read reads the headings and the summary of a page, and gives headings and names in tables their anchors.
func (p *Page) read() {
	taken := map[string]int{}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			start := bytes.LastIndexByte(p.Markdown[:h.Lines().At(0).Start], '\n') + 1
			title := p.plain(h)
			anchor := Anchor(title)
			taken[anchor]++
			if again := taken[anchor] - 1; again > 0 {
				anchor = fmt.Sprintf("%s-%d", anchor, again)
			}
			h.SetAttributeString("id", []byte(anchor))
			p.Headings = append(p.Headings, Heading{Level: h.Level, Text: title, Anchor: anchor, start: start})
			continue
		}
		if len(p.Headings) == 0 {
			return
		}
		body := p.plain(n)
		if p.Summary == "" && n.Kind() == ast.KindParagraph {
			p.Summary = summary(body)
		}
		p.Headings[len(p.Headings)-1].body.WriteString(body + " ")
	}
	if len(p.Headings) > 0 && p.Headings[0].Level == 1 {
		p.Title = p.Headings[0].Text
	}
	p.nameCells(taken)
}

// summary returns the first sentence of a text, and the next ones if that is short.
func summary(text string) string {
	const least = 40
	if i := strings.Index(text[min(len(text), least):], ". "); i >= 0 {
		text = text[:least+i]
	}
	return strings.TrimSuffix(text, ".")
}

// nameCells gives each cell of a table that has nothing but code, such as the key of a field, the anchor of that: the
// console links the fields of a configuration.
func (p *Page) nameCells(taken map[string]int) {
	walk(p.tree, func(n ast.Node) {
		if n.Kind() != east.KindTableCell || n.ChildCount() != 1 || n.FirstChild().Kind() != ast.KindCodeSpan {
			return
		}
		if anchor := Anchor(p.plain(n)); anchor != "" && taken[anchor] == 0 {
			taken[anchor]++
			n.SetAttributeString("id", []byte(anchor))
		}
	})
}

// plain returns the text of a node.
func (p *Page) plain(n ast.Node) string {
	var b strings.Builder
	walk(n, func(n ast.Node) {
		if n.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(p.Markdown))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.Write(n.Label(p.Markdown))
		case *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(p.Markdown))
		}
	})
	return strings.TrimSpace(b.String())
}

// walk calls a function with a node and all below it.
func walk(n ast.Node, visit func(ast.Node)) {
	visit(n)
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		walk(child, visit)
	}
}

// Anchor returns the anchor that GitHub gives a heading.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
