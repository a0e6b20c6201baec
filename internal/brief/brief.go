// Package brief keeps errors and log lines short. They quote texts that others wrote, which
// may be long. It also finds the names that were most likely meant.
package brief

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what is shown.
const (
	MaxText = 100 // bytes of one text
	MaxList = 5   // texts of one list
)

// Text returns the first MaxText bytes of a text, followed by … if there are more.
func Text(text string) string { return Cut(text, MaxText) }

// Quote is [Text] between quotation marks, with escapes.
func Quote(text string) string {
	if len(text) > MaxText {
		return strconv.Quote(cut(text, MaxText)) + "…"
	}
	return strconv.Quote(text)
}

// Cut returns the first most bytes of a text, followed by … if there are more.
func Cut(text string, most int) string {
	if len(text) > most {
		return cut(text, most) + "…"
	}
	return text
}

// cut returns at most that many bytes of a longer text, without a part of a character.
func cut(text string, most int) string {
	for end := most; end > most-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:most] // it is no UTF-8
}

// List is a list that shows its first texts and counts the others.
type List struct {
	shown []string
	more  int
}

// Add appends a text.
func (l *List) Add(text string) {
	if len(l.shown) < MaxList {
		l.shown = append(l.shown, Quote(text))
	} else {
		l.more++
	}
}

// Empty reports whether nothing was added.
func (l *List) Empty() bool { return len(l.shown) == 0 }

// String returns the list in one line: "a", "b" and 3 more.
func (l *List) String() string {
	text := strings.Join(l.shown, ", ")
	if l.more > 0 {
		text += " and " + strconv.Itoa(l.more) + " more"
	}
	return text
}

// Error returns an error with the chain of err, and with at most 500 bytes of its text.
func Error(err error) error {
	if err == nil || len(err.Error()) <= maxError {
		return err
	}
	return shortError{err}
}

const maxError = 500

type shortError struct{ error }

func (e shortError) Error() string { return Cut(e.error.Error(), maxError) }
func (e shortError) Unwrap() error { return e.error }
