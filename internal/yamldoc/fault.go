package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// SyntaxError says where a document is neither YAML nor JSON.
type SyntaxError struct {
	Line, Column int // from 1; 0 if the reader does not say it
	Problem      string
}

// Error has the place, too.
func (e *SyntaxError) Error() string {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	return "YAML or JSON is allowed: " + at + e.Problem
}

// cures are what is most often meant by an error of the reader, which is known by a part of its text.
var cures = [...]struct {
	part    string
	atBegin bool   // the cure is where the value begins that could not be read
	cure    string // %d is the line in which it begins
}{
	{"scanning an alias", true, "a text that begins with * needs quotation marks, all of it"},
	{"unknown anchor", false, "a text that begins with * needs quotation marks, all of it"},
	{"scanning an anchor", true, "a text that begins with & needs quotation marks"},
	{"cannot start any token", false, "a text that begins with such a character needs quotation marks; a tab is no indentation"},
	{"violates indentation", false, "a tab is no indentation"},
	{"a quoted scalar: found unexpected end of stream", true, "the second quotation mark is missing"},
	{"could not find expected ':'", true, "a key needs a colon and a blank behind it"},
	{"a flow sequence: did not find", false, "the [ in line %d is not closed, or a comma is missing"},
	{"a flow mapping: did not find", false, "the { in line %d is not closed, or a comma is missing"},
	{"a flow node: did not find", false, "a value is missing, or a [ or { is not closed"},
	{"a block mapping: did not find expected key", false, "the indentation is not that of line %d, or something follows a value that has ended, such as one in quotation marks"},
	{"a block collection: did not find expected '-'", false, "the indentation is not that of line %d, or something follows a value that has ended, such as one in quotation marks"},
	{"mapping values are not allowed", false, "a text with a colon and a blank in it needs quotation marks; or the indentation is not that of the line above"},
	{"expected <document start>", false, "one document is allowed, and more follows it"},
}

// syntaxError returns an error of the reader with its place and with what is most often meant.
func syntaxError(text []byte, err error) error {
	wrong, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return fmt.Errorf("YAML or JSON is allowed: %w", brief.Error(err))
	}
	at, begin, problem := wrong.Mark, wrong.ContextMark, brief.Text(wrong.Message)
	for _, c := range cures {
		if !strings.Contains(wrong.ContextMsg+": "+wrong.Message, c.part) {
			continue
		}
		if c.atBegin && begin.Line > 0 {
			at = begin
		}
		problem += "; " + strings.Replace(c.cure, "%d", fmt.Sprint(begin.Line), 1)
		break
	}
	// Nobody looks behind the last line for what is missing.
	text = bytes.TrimRight(text, "\r\n")
	if last := 1 + bytes.Count(text, []byte("\n")); at.Line > last {
		if at = begin; at.Line == 0 || at.Line > last {
			at.Line, at.Column = last, utf8.RuneCount(text[bytes.LastIndexByte(text, '\n')+1:])+1
		}
	}
	return &SyntaxError{at.Line, at.Column, problem}
}
