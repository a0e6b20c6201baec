// Package yamldoc reads YAML and JSON that others wrote, of any size and shape, in
// bounded time and memory, and with errors that stay short.
//
// It reads nodes only. The YAML reader takes linear time for them; a mapping that it
// decodes into a struct or a map takes it minutes and gigabytes if there are some
// hundred thousand keys, because it compares each key with each, and words an error for
// each pair that is equal.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// MaxSize bounds a document in bytes. A larger one does not fit a node of ZooKeeper.
const MaxSize = 1 << 20

// ErrEmpty is the error of Parse for a document that has nothing in it.
var ErrEmpty = errors.New("the document is empty")

// Parse reads one document, which is a mapping, and returns its values by key. Null is
// an empty mapping. Depth and aliases need no bounds here: the reader bounds the
// depth, and an alias is a pointer until somebody follows it.
func Parse(text []byte) (map[string]*yaml.Node, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("document of %d bytes, at most %d are allowed", len(text), MaxSize)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, ErrEmpty
	case err != nil:
		return nil, fmt.Errorf("YAML or JSON is allowed: %w", brief.Error(err))
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("one document is allowed, and more follows it")
	}
	return Mapping(root.Content[0])
}

// Mapping takes a mapping apart. Null is an empty one.
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

// Resolve follows an alias.
func Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether there is nothing at a node.
func IsNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Text returns a single value as it is written; "" for null.
func Text(n *yaml.Node) (string, error) {
	switch {
	case IsNull(n):
		return "", nil
	case n.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("a single value is allowed, line %d has something else", n.Line)
	}
	return n.Value, nil
}
