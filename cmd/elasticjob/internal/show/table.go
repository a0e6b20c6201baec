package show

import (
	"fmt"
	"slices"
	"strings"
)

// maxCell bounds a cell, also where nothing is cut to a width.
const maxCell = 4000

// leastCell is what a column keeps when a table is cut to a terminal.
const leastCell = 6

// Table is a result for people.
type Table struct {
	header []column
	rows   [][]string
	// Empty is said instead of a table without rows, Head above one with rows, and Foot below it. Foot
	// may have several lines.
	Empty, Head, Foot string
	// Page has the table take the place of all that the terminal shows.
	Page bool

	sections []section // follow the table
}

type column struct {
	name string
	wide bool // only with -o wide
}

type section struct {
	title string
	table *Table
}

// NewTable returns a table with columns. A name in parentheses is that of a column that only -o wide
// shows. Without columns rows are pairs of a field and its value.
func NewTable(names ...string) *Table {
	t := &Table{}
	for _, name := range names {
		bare := strings.TrimSuffix(strings.TrimPrefix(name, "("), ")")
		t.header = append(t.header, column{name: bare, wide: bare != name})
	}
	return t
}

// Text returns a table that is a text of several lines.
func Text(text string) *Table {
	t := &Table{}
	if text != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			t.rows = append(t.rows, []string{line})
		}
	}
	return t
}

// Row adds a row. Cells are printed as fmt.Sprint does; an empty one shows as -.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	t.rows = append(t.rows, row)
}

// Field adds a pair of a name and a value, unless the value is empty: see NewTable.
func (t *Table) Field(name string, value any) {
	if text := fmt.Sprint(value); text != "" {
		t.rows = append(t.rows, []string{name + ":", text})
	}
}

// maxSection is how many rows of a section are shown.
const maxSection = 1000

// Section adds the beginning of a table below this one, with a title, unless it is empty. Of a long one the title says how
// many rows it has.
func (t *Table) Section(title string, below *Table) {
	if n := len(below.rows); n > maxSection {
		title = fmt.Sprintf("%s, the first %d of %d:", strings.TrimSuffix(title, ":"), maxSection, n)
		below.rows = below.rows[:maxSection]
	}
	if len(below.rows) > 0 {
		t.sections = append(t.sections, section{title, below})
	}
}

// text returns the lines of the table; most is the width that they may have, 0 is any.
func (t *Table) text(wide bool, most int) string {
	var b strings.Builder
	if t.Page {
		b.WriteString("\x1b[H\x1b[2J")
	}
	if t.Head != "" {
		fmt.Fprintln(&b, Line(t.Head))
	}
	t.write(&b, wide, most)
	for _, s := range t.sections {
		fmt.Fprintf(&b, "\n%s\n", Line(s.title))
		s.table.write(&b, wide, most)
	}
	return b.String()
}

func (t *Table) write(b *strings.Builder, wide bool, most int) {
	if len(t.rows) == 0 {
		if t.Empty != "" {
			fmt.Fprintln(b, Line(t.Empty))
		}
		return
	}
	lines := t.shown(wide)
	widths := widthsOf(lines)
	isCut := most > 0 && t.header != nil // a pair, or a line of a text, may take several lines
	if isCut {
		shrink(widths, most)
	}
	for _, line := range lines {
		var out strings.Builder
		for i, cell := range line {
			if isCut {
				cell = fit(cell, widths[i])
			}
			out.WriteString(cell)
			if i < len(line)-1 {
				out.WriteString(strings.Repeat(" ", widths[i]-columns(cell)+gap))
			}
		}
		fmt.Fprintln(b, strings.TrimRight(out.String(), " "))
	}
	if t.Foot != "" {
		fmt.Fprintf(b, "\n%s\n", Lines(t.Foot))
	}
}

// shown returns the cells of the lines to print, the header first.
func (t *Table) shown(wide bool) [][]string {
	var lines [][]string
	if t.header != nil {
		var names []string
		for _, c := range t.header {
			if wide || !c.wide {
				names = append(names, c.name)
			}
		}
		lines = append(lines, names)
	}
	for _, row := range t.rows {
		var cells []string
		for i, cell := range row {
			if t.header != nil && i < len(t.header) && t.header[i].wide && !wide {
				continue
			}
			if cell == "" && t.header != nil {
				cell = "-"
			}
			cells = append(cells, fit(Line(cell), maxCell))
		}
		lines = append(lines, cells)
	}
	return lines
}

// gap is how many spaces stand between two columns.
const gap = 2

func widthsOf(lines [][]string) []int {
	var widths []int
	for _, line := range lines {
		for i, cell := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(cell))
		}
	}
	return widths
}

// shrink takes what is too much from the widest columns.
func shrink(widths []int, most int) {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for total > most {
		i := slices.Index(widths, slices.Max(widths))
		if widths[i] <= leastCell {
			return
		}
		widths[i]--
		total--
	}
}
