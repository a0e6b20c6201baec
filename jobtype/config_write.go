package jobtype

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// scalar returns a node with a single value, in the style of ElasticJob's own documents.
func scalar(tag, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	switch {
	case tag != "!!str":
	case strings.Contains(text, "\n"):
		n.Style = yaml.DoubleQuotedStyle
	case !isPlain(text):
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// isPlain reports whether the encoder writes a text without quotes.
func isPlain(text string) bool {
	if text == "" || isWord(text) {
		return text != ""
	}
	written, err := yaml.Marshal(text)
	return err == nil && string(written) == text+"\n"
}

// isWord reports whether a text is a word of ASCII letters, with digits, '_', '-' and '.'
// behind the first, as most keys and names are, and not one of the few that YAML reads as
// something else. To ask the encoder costs much more.
func isWord(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	switch strings.ToLower(text) {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}

func list(texts []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, text := range texts {
		n.Content = append(n.Content, scalar("!!str", text))
	}
	return n
}

// node returns the mapping as a node, with its keys in alphabetical order.
func (d document) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range slices.Sorted(maps.Keys(d)) {
		n.Content = append(n.Content, scalar("!!str", key), d[key])
	}
	return n
}

func (d document) marshal() ([]byte, error) {
	nodes := 0
	root, err := unshared(d.node(), &nodes)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// unshared returns a copy of a node. It replaces aliases by copies, because the node that
// an alias points to may have been replaced, or may come later now. It leaves out comments,
// because no program reads them.
func unshared(n *yaml.Node, nodes *int) (*yaml.Node, error) {
	const most = 100_000
	if *nodes++; *nodes > most {
		return nil, fmt.Errorf("more than %d values, with what aliases repeat", most)
	}
	n = yamldoc.Resolve(n)
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	if blocks := yaml.LiteralStyle | yaml.FoldedStyle; c.Style&blocks != 0 {
		// The encoder writes some texts as blocks that are read as other texts.
		c.Style = c.Style&^blocks | yaml.DoubleQuotedStyle
	}
	if c.Value == "" && yamldoc.IsNull(c) {
		c.Value = "null" // within braces the encoder would write an empty text
	}
	for _, child := range n.Content {
		child, err := unshared(child, nodes)
		if err != nil {
			return nil, err
		}
		c.Content = append(c.Content, child)
	}
	return c, nil
}
