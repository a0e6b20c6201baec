// Package show prints results: as tables for people, as JSON or YAML for programs, or as bare
// names for other commands. It asks them, too.
//
// All text in them comes from the store, or from outside: nothing of it reaches the terminal
// that is no printable character. Tables are cut to the width of a terminal; what is no terminal
// gets all.
package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Format is what -o says.
type Format string

// The formats.
const (
	TableFormat Format = "table"
	Wide        Format = "wide"
	JSON        Format = "json"
	YAML        Format = "yaml"
	Name        Format = "name"
)

// Formats returns all formats.
func Formats() []Format { return []Format{TableFormat, Wide, JSON, YAML, Name} }

// ForPeople reports whether a format is read by people.
func (f Format) ForPeople() bool { return f == TableFormat || f == Wide }

// String, Set and Type make it a flag.
func (f *Format) String() string { return string(*f) }

// Set accepts one of the formats.
func (f *Format) Set(text string) error {
	var known []string
	for _, format := range Formats() {
		if Format(text) == format {
			*f = format
			return nil
		}
		known = append(known, string(format))
	}
	return fmt.Errorf("allowed are %s", strings.Join(known, ", "))
}

// Type is what help shows.
func (f *Format) Type() string { return "format" }

// Result is what a command has found, or done.
type Result struct {
	// Value is printed with -o json and -o yaml, by its json tags.
	Value any
	// Table is printed for people. Without it, YAML is.
	Table func() *Table
	// Names are printed with -o name, one a line; nil means that the result has none.
	Names func() []string
}

// Printer prints results.
type Printer struct {
	Out    io.Writer
	Format Format
	// Width is how many columns the terminal has; 0 means that Out is none, and cuts nothing.
	Width int
	// Colours is whether the terminal is to show them.
	Colours bool
}

// Print prints a result.
func (p Printer) Print(r Result) error {
	switch p.Format {
	case JSON:
		return p.json(r.Value, "  ")
	case YAML:
		return p.yaml(r.Value)
	case Name:
		if r.Names == nil {
			return fmt.Errorf("-o name: this command has no names to show")
		}
		for _, name := range r.Names() {
			if _, err := fmt.Fprintln(p.Out, Line(name)); err != nil {
				return err
			}
		}
		return nil
	}
	if r.Table == nil {
		return p.yaml(r.Value)
	}
	t := r.Table()
	most := p.Width
	if p.Format == Wide {
		most = 0
	}
	_, err := io.WriteString(p.Out, t.text(p.Format == Wide, most))
	return err
}

// PrintNext prints one result of a stream: with -o json it is one line, with -o yaml a document.
func (p Printer) PrintNext(r Result) error {
	switch p.Format {
	case JSON:
		return p.json(r.Value, "")
	case YAML:
		if _, err := fmt.Fprintln(p.Out, "---"); err != nil {
			return err
		}
	}
	return p.Print(r)
}

// Say prints a sentence for people; programs do not get it.
func (p Printer) Say(format string, args ...any) error {
	if !p.Format.ForPeople() {
		return nil
	}
	_, err := fmt.Fprintln(p.Out, Lines(fmt.Sprintf(format, args...)))
	return err
}

// Head prints a line for people that comes before all others; a terminal shows one that is a warning in red.
func (p Printer) Head(line string, isWarning bool) error {
	if !p.Format.ForPeople() {
		return nil
	}
	_, err := fmt.Fprintln(p.Out, Red(line, isWarning && p.Colours))
	return err
}

// Red is [Line], white on red if that is wanted.
func Red(text string, isWanted bool) string {
	if text = Line(text); isWanted {
		return "\x1b[1;97;41m" + text + "\x1b[0m"
	}
	return text
}

func (p Printer) json(value any, indent string) error {
	document, err := encode(value, indent, largeJSON)
	if err != nil {
		return err
	}
	_, err = p.Out.Write(document)
	return err
}

// encode writes JSON of which a terminal can be shown every byte: see quoted.
func encode(value any, indent string, large func(rune) string) ([]byte, error) {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return quoted(plain.Bytes(), large), nil
}

// largeJSON and largeYAML write a rune of more than four hexadecimal digits.
func largeJSON(r rune) string {
	r -= 0x10000
	return fmt.Sprintf(`\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
}

func largeYAML(r rune) string { return fmt.Sprintf(`\U%08x`, r) }

// quoted writes what is hidden in texts between quotation marks as escapes; large writes those of
// runes that have more than four digits. The encoders have left no line break in such texts.
func quoted(document []byte, large func(rune) string) []byte {
	var safe bytes.Buffer
	for _, r := range string(document) { // the encoders have made it UTF-8
		switch {
		case r == '\n' || !hidden(r):
			safe.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&safe, `\u%04x`, r)
		default:
			safe.WriteString(large(r))
		}
	}
	return safe.Bytes()
}

// yaml writes the same names and order as JSON.
func (p Printer) yaml(value any) error {
	document, err := encode(value, "", largeYAML)
	if err != nil {
		return err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(document, &node); err != nil { // JSON is YAML, but for what largeYAML writes
		return err
	}
	block(&node)
	if document, err = yamldoc.Marshal(&node); err != nil {
		return err
	}
	_, err = p.Out.Write(quoted(document, largeYAML))
	return err
}

// block takes JSON's brackets and quotation marks away where YAML needs none.
func block(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode && len(n.Content) > 0 {
		n.Style = 0
	}
	if n.Kind == yaml.ScalarNode {
		n.Style = 0
		if strings.IndexFunc(n.Value, hidden) >= 0 {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	for _, child := range n.Content {
		block(child)
	}
}
