package main

import (
	"fmt"
	"slices"
	"strings"
)

const (
	nameWidth = 12
	cellWidth = 6
)

// board draws a table of instances and items. The owners come from the tree, and the progress
// from the reports of the instances.
func (s *stage) board(width int) []line {
	cell := cellWidth
	if fit := (width - nameWidth - 1) / s.items; fit < cell {
		cell = max(fit, 3)
	}
	picture := []line{nil, s.heading(cell)}
	for _, w := range s.crew.workers {
		picture = append(picture, s.row(w, cell))
	}
	return append(picture, nil, s.counters(), legend(cell))
}

func (s *stage) heading(cell int) line {
	var l line
	l.add(faint, "%-*s", nameWidth, "  pid")
	for i := range s.items {
		l.add(bold, "%-*d", cell, i)
	}
	return l
}

// row is one instance.
func (s *stage) row(w *worker, cell int) line {
	var l line
	if s.leads(w) {
		l.add(yellow, "★ ")
	} else {
		l.add(plain, "  ")
	}
	style := bold
	if w.fate == killed || w.fate == left {
		style = faint
	}
	l.add(style, "%s %-*d", w.name, nameWidth-4, w.pid)
	switch {
	case w.fate == left:
		l.add(faint, "left at %s", clock(w.since))
		return l
	case w.fate == killed && len(s.picture.owns(w.pid)) == 0:
		l.add(faint, "killed at %s", clock(w.since))
		return l
	}
	under := s.ledger.under(w.name)
	for i := range s.items {
		at := slices.IndexFunc(under, func(e *execution) bool { return e.item == i })
		switch {
		case w.fate == killed && pidOf(s.picture.running[i]) == w.pid:
			l.add(red, "%-*s", cell, strings.Repeat("×", cell-2))
		case at >= 0:
			text, style := bar(under[at], cell-2)
			l.add(style, "%-*s", cell, text)
		case pidOf(s.picture.owner[i]) == w.pid:
			l.add(plain, "%-*s", cell, "·")
		default:
			l.add(plain, "%*s", cell, "")
		}
	}
	switch w.fate {
	case killed:
		l.add(red, "killed at %s", clock(w.since))
	case leaving:
		l.add(faint, "leaving")
	}
	return l
}

// bar shows the progress of an execution, and why it runs.
func bar(e *execution, width int) (string, style) {
	full := 1
	if e.files > 0 {
		full += e.done * (width - 1) / e.files
	}
	full = min(full, width)
	text := strings.Repeat("█", full) + strings.Repeat("░", width-full)
	switch letter := sourceLetter(e); letter {
	case "":
		return text, green
	case failoverLetter:
		return letter + text[len("█"):], magenta
	default:
		return letter + text[len("█"):], yellow
	}
}

const (
	failoverLetter = "F"
	misfireLetter  = "M"
)

// sourceLetter says why an execution runs. It is empty for one that began on time.
func sourceLetter(e *execution) string {
	switch {
	case e.again():
		return failoverLetter
	case e.makesUp():
		return misfireLetter
	}
	return ""
}

func (s *stage) counters() line {
	var runs, makeUps, failovers int
	for _, e := range s.ledger.executions {
		runs++
		if e.again() {
			failovers++
		} else if e.makesUp() {
			makeUps++
		}
	}
	last := "none yet"
	if !s.tick.IsZero() {
		last = clock(s.tick)
	}
	var l line
	l.add(plain, "  last tick %s   runs %d   make-ups %d   failovers %d", last, runs, makeUps, failovers)
	if len(s.picture.waiting) > 0 {
		l.add(red, "   waiting for failover: %s", itemList(s.picture.waiting))
	}
	return l
}

func legend(cell int) line {
	var l line
	l.add(faint, "  ★ leader   · owns   %s runs   %s make-up   %s failover   %s cut short",
		strings.Repeat("█", cell-2), misfireLetter+strings.Repeat("█", cell-3), failoverLetter+strings.Repeat("█", cell-3), strings.Repeat("×", cell-2))
	return l
}

// itemList names items: "item 3", "items 0 1 6".
func itemList(items []int) string {
	name := "items"
	if len(items) == 1 {
		name = "item"
	}
	return name + " " + strings.Trim(fmt.Sprint(items), "[]")
}
