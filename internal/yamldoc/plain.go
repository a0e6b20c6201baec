package yamldoc

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// plain reads a document of lines with a key and a value each, where a value may be a mapping of the
// same kind, one level deeper. Programs write nearly all documents like this, and an operator's list
// reads some ten thousands of them. It is some ten times as fast as the YAML reader, and returns the
// same nodes. ok is false for all that it does not surely understand.
func plain(text []byte) (values map[string]*yaml.Node, ok bool) {
	values = map[string]*yaml.Node{}
	var inner *yaml.Node // the mapping below the key that was read last
	for line := 1; len(text) > 0; line++ {
		row, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		indent := len(row) - len(bytes.TrimLeft(row, " "))
		key, value, ok := plainLine(row[indent:])
		if !ok {
			return nil, false
		}
		at := &yaml.Node{Kind: yaml.ScalarNode, Value: key, Line: line, Column: indent + 1}
		var node *yaml.Node
		if value != nil {
			if node = plainValue(value); node == nil {
				return nil, false
			}
			node.Line, node.Column = line, indent+len(key)+len(": ")+1
		}
		switch {
		case indent > 0:
			if inner == nil || node == nil || len(inner.Content) > 0 && inner.Column != indent+1 {
				return nil, false
			}
			if len(inner.Content) == 0 {
				inner.Line, inner.Column = line, indent+1
			}
			at.Tag = PlainTag(at.Value)
			inner.Content = append(inner.Content, at, node)
			continue
		case inner != nil && len(inner.Content) == 0, values[key] != nil:
			return nil, false // null, and a key that comes twice
		}
		inner = nil
		if node == nil {
			inner = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			node = inner
		}
		values[key] = node
	}
	return values, len(values) > 0 && (inner == nil || len(inner.Content) > 0)
}

// appendPlain writes what plain reads: a mapping of single values, some of which may be such mappings, as the YAML writer
// writes it. ok is false for all that it does not surely write the same. It is some twenty times as fast, and a process that
// starts some thousand jobs writes the configuration of each.
func appendPlain(text []byte, mapping *yaml.Node, indent string) (_ []byte, ok bool) {
	if mapping.Kind != yaml.MappingNode || len(mapping.Content) == 0 || !isBare(mapping, "!!map") || mapping.Style != 0 {
		return nil, false
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		text = append(append(append(text, indent...), key.Value...), ':')
		if !isPlainText(key) {
			return nil, false
		}
		if _, rest, isKey := plainLine(text[len(text)-len(key.Value)-1:]); !isKey || rest != nil {
			return nil, false
		}
		switch {
		case value.Kind == yaml.MappingNode && indent == "":
			if text, ok = appendPlain(append(text, '\n'), value, "  "); !ok {
				return nil, false
			}
			continue
		case value.Style == yaml.SingleQuotedStyle && value.Kind == yaml.ScalarNode && isBare(value, "!!str"):
			if strings.Contains(value.Value, "'") || !isPrintable([]byte(value.Value)) {
				return nil, false
			}
			text = append(append(append(text, " '"...), value.Value...), '\'')
		case isPlainText(value):
			text = append(append(text, ' '), value.Value...)
		default:
			return nil, false
		}
		text = append(text, '\n')
	}
	return text, true
}

// isPlainText reports whether a node is a single value that stands without quotation marks.
func isPlainText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Value == "" || n.Tag == "" || !isBare(n, n.Tag) || strings.HasPrefix(n.Value, "...") {
		return false
	}
	read := plainValue([]byte(n.Value))
	return read != nil && read.Style == 0 && read.Tag == n.Tag
}

// isBare reports whether a node has nothing but its value and a tag.
func isBare(n *yaml.Node, tag string) bool {
	return (n.Tag == tag || n.Tag == "" && tag == "!!map") && n.Anchor == "" && n.HeadComment == "" && n.LineComment == "" && n.FootComment == ""
}

// plainLine takes a line apart. The value is nil if there is none.
func plainLine(line []byte) (key string, value []byte, ok bool) {
	const longest = 128 // YAML has a bound, too
	end := bytes.IndexByte(line, ':')
	if end < 1 || end > longest || !isLetter(line[0]) {
		return "", nil, false
	}
	for _, c := range line[:end] {
		if !isLetter(c) && !isDigit(c) && c != '.' && c != '_' && c != '-' {
			return "", nil, false
		}
	}
	key = string(line[:end])
	switch rest := line[end+1:]; {
	case len(rest) == 0:
		return key, nil, true
	case len(rest) > 1 && rest[0] == ' ':
		return key, rest[1:], true
	}
	return "", nil, false
}

// plainValue reads a value that has at least one byte; nil if it may mean something else than its text.
func plainValue(text []byte) *yaml.Node {
	last := len(text) - 1
	if quote := text[0]; quote == '\'' || quote == '"' {
		style := yaml.SingleQuotedStyle
		if quote == '"' {
			style = yaml.DoubleQuotedStyle
		}
		if last == 0 || text[last] != quote {
			return nil
		}
		if text = text[1:last]; bytes.IndexByte(text, quote) >= 0 || quote == '"' && bytes.IndexByte(text, '\\') >= 0 || !isPrintable(text) {
			return nil
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Style: style, Tag: "!!str", Value: string(text)}
	}
	first := text[0]
	if first == '-' && last > 0 {
		first = text[1]
		if !isDigit(first) {
			return nil
		}
	}
	if !isLetter(first) && !isDigit(first) && first != '/' && first != '.' && first < utf8.RuneSelf {
		return nil
	}
	if text[last] == ' ' || text[last] == ':' || bytes.IndexByte(text, '#') >= 0 || bytes.Contains(text, []byte(": ")) || !isPrintable(text) {
		return nil
	}
	plain := string(text)
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: PlainTag(plain), Value: plain}
}

// isPrintable reports whether a text has no character that YAML does not allow, or takes for the end
// of a line.
func isPrintable(text []byte) bool {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c < ' ' || c > '~' {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r < 0xa1 || r == '\u2028' || r == '\u2029' || r > 0xd7ff { // what is not UTF-8 is beyond that, too
			return false
		}
		i += size
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
