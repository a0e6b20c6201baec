package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// screen writes the lines of the story, which stay. If out is a terminal, it draws a picture
// below them again and again. It is not safe for concurrent use.
type screen struct {
	out   io.Writer
	live  bool
	size  func() (width, height int)
	drawn []string // the lines of the picture that stands there
}

func newScreen(out io.Writer) *screen {
	_, _, live := terminalSize(out)
	s := &screen{out: out, live: live, size: func() (int, int) {
		width, height, _ := terminalSize(out)
		return width, height
	}}
	return s
}

// say writes a line that stays.
func (s *screen) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !s.live {
		fmt.Fprintln(s.out, line)
		return
	}
	picture := s.drawn
	s.show(append([]string{line}, picture...))
	s.drawn = picture
}

// draw replaces the picture. The part of it that does not fit is left out.
func (s *screen) draw(picture []line) {
	if !s.live {
		return
	}
	width, height := s.size()
	var rows []string
	for _, l := range picture[:min(len(picture), max(height-1, 0))] {
		rows = append(rows, l.render(width-1)) // some terminals wrap after the last column
	}
	s.show(rows)
	s.drawn = rows
}

// wipe takes the picture away.
func (s *screen) wipe() { s.draw(nil) }

// show writes lines where the picture was. It uses one write, so that nothing flickers.
func (s *screen) show(lines []string) {
	var b bytes.Buffer
	b.WriteString(hideCursor)
	if len(s.drawn) > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", len(s.drawn))
	}
	for _, line := range lines {
		b.WriteString("\r" + line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J" + showCursor)
	s.out.Write(b.Bytes()) // an error could only be shown here
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// line is a row of the picture, in pieces of different styles.
type line []span

type span struct {
	text  string
	style style
}

// style is the parameter of an ANSI sequence.
type style string

const (
	plain   style = ""
	bold    style = "1"
	faint   style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	magenta style = "35"
)

func (l *line) add(s style, format string, args ...any) {
	*l = append(*l, span{fmt.Sprintf(format, args...), s})
}

// render returns the line with its styles, cut off at the width. All characters in it
// are one column wide.
func (l line) render(width int) string {
	var b strings.Builder
	for _, s := range l {
		text := s.text
		if n := utf8.RuneCountInString(text); n > width {
			text = string([]rune(text)[:max(width, 0)])
		}
		width -= utf8.RuneCountInString(text)
		if s.style == plain {
			b.WriteString(text)
		} else {
			b.WriteString("\x1b[" + string(s.style) + "m" + text + "\x1b[0m")
		}
	}
	return b.String()
}
