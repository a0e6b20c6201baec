// Package mdpage reads README.md and the pages below docs, for tests that run what they show. It
// understands what these pages use of GitHub's Markdown: headings, fenced blocks, links and code.
package mdpage

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Page is a page of Markdown.
type Page struct {
	Name string // the path from the root of the repository, with slashes
	Text string
}

// Block is a fenced block of a page.
type Block struct {
	Language string // empty if none is given
	Text     string // ends with a newline
	Line     int    // of the first line of Text in the page
}

// Span is a piece of a page outside of its fenced blocks: the target of a link, or code in a line.
type Span struct {
	Text string
	Line int
}

// List reads README.md and all pages below docs, in the order of their names. root is the root of the repository.
func List(root string) ([]Page, error) { return list(root, os.DirFS(filepath.Join(root, "docs"))) }

// Embedded is List with the pages of package docs, for tests of another module: the go command keeps their results
// although a file outside of their module changes, but not if what they embed does.
func Embedded(root string, docs fs.FS) ([]Page, error) { return list(root, docs) }

func list(root string, docs fs.FS) ([]Page, error) {
	readme, err := Read(root, "README.md")
	if err != nil {
		return nil, err
	}
	pages := []Page{readme}
	err = fs.WalkDir(docs, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(docs, name)
		pages = append(pages, Page{Name: "docs/" + name, Text: string(text)})
		return err
	})
	return pages, err
}

// Read reads one page.
func Read(root, name string) (Page, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	return Page{Name: name, Text: string(text)}, err
}

// Lines is how many lines the page has.
func (p Page) Lines() int { return strings.Count(p.Text, "\n") }

// At says where a line of the page is.
func (p Page) At(line int) string { return fmt.Sprintf("%s:%d", p.Name, line) }

// Blocks returns the fenced blocks in their order; those with one of the languages, if any are given.
func (p Page) Blocks(languages ...string) (blocks []Block) {
	p.walk(func(b Block) {
		if len(languages) == 0 || slices.Contains(languages, b.Language) {
			blocks = append(blocks, b)
		}
	}, func(string, int) {})
	return blocks
}

var fence = regexp.MustCompile("^( *)(```+|~~~+) *([^`]*)$")

// walk visits the fenced blocks, and the lines outside of them.
func (p Page) walk(block func(Block), line func(text string, number int)) {
	var open []string // the parts of the fence of the current block
	var b Block
	number := 0
	for text := range strings.Lines(p.Text) {
		number++
		text = strings.TrimSuffix(text, "\n")
		parts := fence.FindStringSubmatch(text)
		switch {
		case open == nil && parts != nil:
			open, b = parts, Block{Language: strings.TrimSpace(parts[3]), Line: number + 1}
		case open == nil:
			line(text, number)
		case parts != nil && parts[3] == "" && strings.HasPrefix(parts[2], open[2]):
			block(b)
			open = nil
		default:
			b.Text += strings.TrimPrefix(text, open[1]) + "\n"
		}
	}
	if open != nil {
		block(b)
	}
}

var (
	codeSpan  = regexp.MustCompile("``+[^`]+``+|`[^`]+`")
	link      = regexp.MustCompile(`\]\(<?([^)<>\s]+)>?(?:\s+"[^"]*")?\)`)
	reference = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?`)
	source    = regexp.MustCompile(`<(?:img|a|source)\b[^>]*\b(?:src|href|srcset)="([^"]+)"`)
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$`)
	named     = regexp.MustCompile(`<[^>]*\b(?:id|name)="([^"]+)"`)
	inLink    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// Links returns the targets of all links and pictures.
func (p Page) Links() (links []Span) {
	p.walk(func(Block) {}, func(text string, number int) {
		text = codeSpan.ReplaceAllString(text, "``")
		for _, expression := range []*regexp.Regexp{link, reference, source} {
			for _, match := range expression.FindAllStringSubmatch(text, -1) {
				links = append(links, Span{match[1], number})
			}
		}
	})
	return links
}

// Code returns the code within lines.
func (p Page) Code() (code []Span) {
	p.walk(func(Block) {}, func(text string, number int) {
		for _, span := range codeSpan.FindAllString(text, -1) {
			code = append(code, Span{strings.TrimSpace(strings.Trim(span, "`")), number})
		}
	})
	return code
}

// Anchors returns what a link to a place of the page may have behind its #, as GitHub makes it of headings.
func (p Page) Anchors() map[string]bool {
	anchors := map[string]bool{}
	p.walk(func(Block) {}, func(text string, _ int) {
		for _, match := range named.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1) {
			anchors[match[1]] = true
		}
		match := heading.FindStringSubmatch(text)
		if match == nil {
			return
		}
		anchor := anchorOf(match[1])
		for unique, n := anchor, 0; ; n++ {
			if n > 0 {
				unique = fmt.Sprintf("%s-%d", anchor, n)
			}
			if !anchors[unique] {
				anchors[unique] = true
				return
			}
		}
	})
	return anchors
}

// anchorOf returns the anchor of a heading: in small letters, without punctuation, with hyphens for spaces.
func anchorOf(heading string) string {
	heading = inLink.ReplaceAllString(heading, "$1")
	heading = regexp.MustCompile("[`*]").ReplaceAllString(heading, "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
