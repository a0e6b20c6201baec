package mdpage

import "strings"

// Section returns the part of the page below a heading, up to the next one of its level or above; and false
// if the page has no such heading.
func (p Page) Section(heading string) (Page, bool) {
	var b strings.Builder
	level, isIn, isOver := 0, false, false
	add := func(text string) {
		if isIn && !isOver {
			b.WriteString(text + "\n")
		}
	}
	p.walk(func(block Block) { add("```" + block.Language + "\n" + block.Text + "```") }, func(text string, _ int) {
		n, title := titleOf(text)
		switch {
		case !isIn && n > 0 && title == heading:
			level, isIn = n, true
			return
		case isIn && n > 0 && n <= level:
			isOver = true
		}
		add(text)
	})
	return Page{Name: p.Name + ": " + heading, Text: b.String()}, isIn
}

// Headings returns the headings of a level, in their order.
func (p Page) Headings(level int) (titles []string) {
	p.walk(func(Block) {}, func(text string, _ int) {
		if n, title := titleOf(text); n == level {
			titles = append(titles, title)
		}
	})
	return titles
}

// titleOf returns the level and the text of a heading; 0 if the line is none.
func titleOf(text string) (level int, title string) {
	match := heading.FindStringSubmatch(text)
	if match == nil {
		return 0, ""
	}
	text = strings.TrimLeft(text, " ")
	return len(text) - len(strings.TrimLeft(text, "#")), match[1]
}

// Rows returns the rows of all tables, without their heads. Cells are without the spaces around them, and without
// the signs of code if they are code as a whole.
func (p Page) Rows() (rows [][]string) {
	isBelow := false // the head and its line were there
	p.walk(func(Block) { isBelow = false }, func(text string, _ int) {
		switch text = strings.TrimSpace(text); {
		case !strings.HasPrefix(text, "|"):
			isBelow = false
		case strings.Trim(text, "|-: ") == "":
			isBelow = true
		case isBelow:
			rows = append(rows, cells(text))
		}
	})
	return rows
}

// cells splits a row. A | within a cell is written \|.
func cells(row string) []string {
	const mark = "\x00"
	row = strings.ReplaceAll(row, `\|`, mark)
	list := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
	for i, cell := range list {
		cell = strings.TrimSpace(strings.ReplaceAll(cell, mark, "|"))
		if inner, isCode := strings.CutPrefix(cell, "`"); isCode && strings.Count(cell, "`") == 2 {
			cell = strings.TrimSuffix(inner, "`")
		}
		list[i] = cell
	}
	return list
}
