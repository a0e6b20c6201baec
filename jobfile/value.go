package jobfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Bounds of a file. They leave room for an export of 10,000 jobs.
const (
	maxSize   = 8 << 20
	maxValues = 500_000 // with what aliases repeat
	maxDepth  = 20
)

// place is where something stands. Lines and columns count from 1; 0 is unknown.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	switch {
	case p.line == 0:
		return p.file
	case p.column == 0:
		return fmt.Sprintf("%s:%d", p.file, p.line)
	}
	return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
}

// kind is what a value is.
type kind int

const (
	null kind = iota
	scalar
	list
	mapping
)

func (k kind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping"}[k]
}

// value is a value of a file. Values are not changed once they are made.
type value struct {
	at      place
	kind    kind
	text    string // of a scalar, as it is written
	quoted  bool   // the scalar is written as a text
	written string // what is shown of it: before references were expanded, which may be secrets
	list    []*value
	entries []entry // of a mapping, in their order
}

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	at    place
	value *value
}

// wholeName returns the keys down to the first single value, with dots between them.
func (e entry) wholeName() string {
	name := e.key
	for v := e.value; v.kind == mapping && len(v.entries) > 0; v = v.entries[0].value {
		name += "." + v.entries[0].key
	}
	return name
}

// get returns the value of a key; nil if a mapping has none.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	for _, e := range v.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// hasReference reports whether a scalar has something to be expanded.
func (v *value) hasReference() bool { return v.kind == scalar && strings.Contains(v.text, "${") }

// refers reports whether there is something to be expanded in a value, or below it.
func (v *value) refers() bool {
	return v != nil && (v.hasReference() || slices.ContainsFunc(v.list, (*value).refers) ||
		slices.ContainsFunc(v.entries, func(e entry) bool { return e.value.refers() }))
}

// parse reads the text of a file. Its value is a mapping, or null, or nil if there is none.
func parse(file string, text []byte, r *reader) *value {
	root, err := yamldoc.RootUpTo(maxSize, text)
	if errors.Is(err, yamldoc.ErrEmpty) {
		return nil // it changes nothing
	}
	if wrong, ok := errors.AsType[*yamldoc.SyntaxError](err); ok {
		r.fault(place{file, wrong.Line, wrong.Column}, "", "YAML or JSON is allowed: %s", wrong.Problem)
		return nil
	} else if err != nil {
		r.fault(place{file: file}, "", "%w", err)
		return nil
	}
	p := parser{file: file, reader: r}
	v := p.value(root, "", 0)
	if p.full {
		return nil
	}
	if v.kind != mapping && v.kind != null {
		r.fault(v.at, "", "keys with values are allowed, here is %v", v.kind)
	}
	return v
}

// shown returns a text that others wrote as it may stand in a line: short, and with escapes if it
// has characters that are not printed.
func shown(text string) string {
	if strings.ContainsFunc(text, func(c rune) bool { return c == utf8.RuneError || !unicode.IsPrint(c) }) {
		return brief.Quote(text)
	}
	return brief.Text(text)
}

// parser makes values of nodes.
type parser struct {
	file   string
	reader *reader
	values int
	full   bool // there are too many
}

func (p *parser) value(n *yaml.Node, path string, depth int) *value {
	v := &value{at: place{p.file, n.Line, n.Column}}
	n = yamldoc.Resolve(n) // an alias may stand in what it stands for: then it is too deep
	if p.values++; p.values > maxValues || depth >= maxDepth {
		if !p.full {
			p.full = true
			p.reader.fault(v.at, path, "at most %d values, with what aliases repeat, and a depth of %d are allowed", maxValues, maxDepth)
		}
		return v
	}
	switch n.Kind {
	case yaml.ScalarNode:
		p.scalar(v, n, path)
	case yaml.SequenceNode:
		v.kind = list
		for _, child := range n.Content {
			v.list = append(v.list, p.value(child, path, depth+1))
		}
	case yaml.MappingNode:
		v.kind = mapping
		p.entries(v, n, path, depth)
	}
	return v
}

func (p *parser) scalar(v *value, n *yaml.Node, path string) {
	v.kind, v.text, v.written = scalar, n.Value, n.Value
	v.quoted = n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch tag := n.ShortTag(); tag {
	case "!!null":
		v.kind = null
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
	default:
		p.reader.fault(v.at, path, "values of type %s are not allowed", shown(tag))
	}
}

func (p *parser) entries(v *value, n *yaml.Node, path string, depth int) {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && !p.full; i += 2 {
		key := yamldoc.Resolve(n.Content[i])
		at := place{p.file, n.Content[i].Line, n.Content[i].Column}
		line, twice := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			p.reader.fault(at, path, "a key has to be a single value")
		case key.ShortTag() == "!!merge":
			p.reader.fault(at, join(path, "<<"), "is not allowed; what jobs have in common stands in defaults")
		case twice:
			p.reader.fault(at, join(path, key.Value), "the key stands in line %d already", line)
		default:
			seen[key.Value] = at.line
			v.entries = append(v.entries, entry{key.Value, at, p.value(n.Content[i+1], join(path, key.Value), depth+1)})
		}
	}
}
