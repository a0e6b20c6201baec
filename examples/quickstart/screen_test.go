package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestScreenThatIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out)
	s.say("one %d", 1)
	s.draw([]line{{{"a picture", bold}}})
	s.say("two")
	s.wipe()
	if got, want := out.String(), "one 1\ntwo\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestScreenDrawsBelowTheStory(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, live: true, size: func() (int, int) { return 11, 3 }}
	s.say("begin")
	s.draw([]line{{{"0123456789ABC", plain}}, {{"second", plain}}, {{"does not fit", plain}}})
	s.say("a line that stays may be longer than a row")
	s.draw([]line{{{"0123456789", plain}}})
	s.wipe()
	if got := strings.Join(play(t, out.String()), "|"); got != "begin|a line that stays may be longer than a row" {
		t.Errorf("on the screen stands %q in the end", got)
	}
	if strings.Contains(out.String(), "9A") || strings.Contains(out.String(), "fit") {
		t.Errorf("wrote more than fits: %q", &out)
	}
}

// play does what a terminal does with the few sequences that a screen uses.
func play(t *testing.T, text string) []string {
	t.Helper()
	rows, row := []string{""}, 0
	for text != "" {
		switch rest, isSequence := strings.CutPrefix(text, "\x1b["); {
		case isSequence:
			end := strings.IndexAny(rest, "AJKhlm")
			switch rest[end] {
			case 'A':
				for range rest[:end] {
					row -= int(rest[0] - '0')
				}
			case 'J':
				rows = append(rows[:row], "")
			}
			text = rest[end+1:]
		case text[0] == '\r':
			rows[row], text = "", text[1:]
		case text[0] == '\n':
			if row++; row == len(rows) {
				rows = append(rows, "")
			}
			text = text[1:]
		default:
			rows[row], text = rows[row]+text[:1], text[1:]
		}
	}
	return rows[:len(rows)-1]
}

func TestRender(t *testing.T) {
	var l line
	l.add(plain, "★ ")
	l.add(green, "%s", "████░")
	l.add(red, "end")
	for _, test := range []struct {
		width int
		want  string
	}{
		{80, "★ \x1b[32m████░\x1b[0m\x1b[31mend\x1b[0m"},
		{4, "★ \x1b[32m██\x1b[0m\x1b[31m\x1b[0m"},
		{1, "★\x1b[32m\x1b[0m\x1b[31m\x1b[0m"},
		{0, "\x1b[32m\x1b[0m\x1b[31m\x1b[0m"},
		{-1, "\x1b[32m\x1b[0m\x1b[31m\x1b[0m"},
	} {
		if got := l.render(test.width); got != test.want {
			t.Errorf("width %d: %q, want %q", test.width, got, test.want)
		}
	}
}
