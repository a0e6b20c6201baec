package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Line returns a text that stands in one line and does nothing to a terminal: what cannot be
// printed is escaped. Names, descriptions and errors come from the store, where anybody may
// have written them.
func Line(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether a rune is no graphic one, or no simple space. Among them are the controls
// of terminals, and those that turn the direction of writing.
func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

func escape(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// maxLine is how many bytes of a text stand in a cell: it is one of many, and of a JVM the error is a whole stack.
const maxLine = 200

// FirstLine returns the first line of a text that says something, followed by … if there is more.
func FirstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = brief.Cut(strings.TrimSpace(line), maxLine)
	if rest != "" && !strings.HasSuffix(line, "…") {
		line += " …"
	}
	return line
}

// Lines is Line for a text of several lines, which keeps its line breaks and tabulators.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, cell := range cells {
			cells[j] = Line(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// columns returns how many columns of a terminal a text without controls takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1F300 && r <= 0x1FAFF:
		return 2 // emoji
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit cuts a text that takes more columns than there are.
func fit(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	n := 0
	for i, r := range text {
		n += columnsOf(r)
		if n > most-1 {
			return text[:i] + "…"
		}
	}
	return text
}
