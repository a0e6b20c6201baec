// Package yamldoc reads YAML and JSON that others wrote, of any size and shape. Time, memory
// and errors are bounded.
//
// It has the YAML reader parse documents into nodes, which takes linear time, and never
// decode them into a struct or a map. With some hundred thousand keys that would take
// minutes and gigabytes: the reader compares each key with each, and makes an error for each
// equal pair.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// MaxSize bounds a document in bytes. A larger one does not fit a node of ZooKeeper.
const MaxSize = 1 << 20

// ErrEmpty is the error of Parse for a document without a value.
var ErrEmpty = errors.New("the document is empty")

// Parse reads one document, which has to be a mapping or null, and returns its values by
// key. Null is an empty mapping. It bounds the size only: the reader bounds the depth, and
// an alias is only a pointer as long as nobody follows it.
func Parse(text []byte) (map[string]*yaml.Node, error) {
	if len(text) == 0 {
		return nil, ErrEmpty
	}
	if len(text) <= MaxSize {
		if values, ok := plain(text); ok {
			return values, nil
		}
	}
	root, err := Root(text)
	if err != nil {
		return nil, err
	}
	return Mapping(root)
}

// Root is Parse for who needs to know where the values stand: it returns the document's value,
// of any kind. What is neither YAML nor JSON is a *SyntaxError.
func Root(text []byte) (*yaml.Node, error) { return RootUpTo(MaxSize, text) }

// RootUpTo is Root for documents that go into no node, with a bound of their own.
func RootUpTo(most int, text []byte) (*yaml.Node, error) {
	if len(text) > most {
		return nil, fmt.Errorf("document of %d bytes, at most %d are allowed", len(text), most)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, ErrEmpty
	case err != nil:
		return nil, syntaxError(text, err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("one document is allowed, and more follows it")
	}
	return root.Content[0], nil
}

// Strict decodes one document into a value. A key that it has no field for is an error, and so is a second document. One
// that is empty changes nothing. It is for files of some MiB that a person writes, and not for what stands in a store. No
// error shows a value: it may be secret.
func Strict(text []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return withoutValues(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return errors.New("one document is allowed, and more follows it")
	}
	return nil
}

// withoutValues keeps what yaml says about lines and keys, and leaves out names of types and what it quotes: values. A
// value may have the same quotation mark in it, so all goes that is between the first one and the last. Nor is a key shown
// that is no word: {password: $argon2id$v=19$m=19456,t=2,…} has one.
func withoutValues(err error) error {
	text := regexp.MustCompile(`( in type|into) [a-z]+\.\S*`).ReplaceAllString(brief.Error(err).Error(), "")
	text = regexp.MustCompile("(?s)`.*`|\".*\"").ReplaceAllString(text, "***")
	return errors.New(regexp.MustCompile(`\bfield \S*[^A-Za-z\s]\S* `).ReplaceAllString(text, "field *** "))
}

// Mapping returns the values of a mapping by key. Null is an empty mapping.
func Mapping(n *yaml.Node) (map[string]*yaml.Node, error) {
	n = Resolve(n)
	if IsNull(n) {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("keys with values are allowed, line %d has something else", n.Line)
	}
	m := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := Resolve(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d has a key that is no single value", key.Line)
		}
		if _, twice := m[key.Value]; twice {
			return nil, fmt.Errorf("line %d has the key %s again", key.Line, brief.Quote(key.Value))
		}
		m[key.Value] = Resolve(n.Content[i+1])
	}
	return m, nil
}

// Resolve returns the node that an alias stands for, and any other node as it is.
func Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether a node is nil or null.
func IsNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Marshal writes a document with an indentation of two blanks. Unlike the library's it breaks no long line: whoever compares
// documents, or looks for a text in one, finds it.
func Marshal(value any, more ...yaml.Option) ([]byte, error) {
	if n, isNode := value.(*yaml.Node); isNode {
		if text, ok := appendPlain(nil, n, ""); ok { // options are for what is not plain
			return text, nil
		}
	}
	return dump(value, more...)
}

func dump(value any, more ...yaml.Option) ([]byte, error) {
	return yaml.Dump(value, append([]yaml.Option{yaml.WithV3Defaults(), yaml.WithIndent(2), yaml.WithLineWidth(-1)}, more...)...)
}

// PlainTag returns the tag that a text gets if it stands in a document without quotation marks. A
// node that was not read from a document does not tell it.
func PlainTag(text string) string {
	// To decode takes some time, and nearly all texts are one of these.
	switch {
	case text == "":
		return "!!null"
	case text == "true", text == "false":
		return "!!bool"
	case isLetter(text[0]) && (len(text) > len("false") || !strings.ContainsRune("tfynoTFYNO", rune(text[0]))):
		return "!!str" // neither true, yes, null and on, nor their opposites
	case strings.Contains(text, " ") && !strings.Contains(text, "-"):
		return "!!str" // only a time with a date has a space
	case text == "0", isShortNumber(strings.TrimPrefix(text, "-")):
		return "!!int"
	}
	return decodedTag(text)
}

// isShortNumber reports whether a text is a number of at most 18 digits, the first of which is not 0.
func isShortNumber(text string) bool {
	const most = 18 // of 64 bits
	if text == "" || len(text) > most || text[0] == '0' {
		return false
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return true
}

// decodedTag is PlainTag by the YAML library.
func decodedTag(text string) string {
	var value any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Value: text}).Decode(&value); err != nil {
		return "!!str"
	}
	switch value.(type) {
	case nil:
		return "!!null"
	case bool:
		return "!!bool"
	case int, int64, uint64:
		return "!!int"
	case float64:
		return "!!float"
	case time.Time:
		return "!!timestamp"
	}
	return "!!str"
}

// Text returns a single value as text, or "" for null. Anything else is an error. A binary value stands for the text that it
// has in base64: SnakeYAML writes a text so that has control characters.
func Text(n *yaml.Node) (string, error) {
	switch {
	case IsNull(n):
		return "", nil
	case n.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("a single value is allowed, line %d has something else", n.Line)
	case n.ShortTag() != "!!binary":
		return n.Value, nil
	}
	var text string
	if err := n.Decode(&text); err != nil {
		return "", fmt.Errorf("binary: base64 is allowed: %w", brief.Error(err))
	}
	if !utf8.ValidString(text) {
		return "", errors.New("binary: only UTF-8 is allowed")
	}
	return text, nil
}
