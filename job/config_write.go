package job

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// scalar makes a single value, in the style of ElasticJob's own documents.
func scalar(tag, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	switch {
	case tag != "!!str":
	case strings.Contains(text, "\n"):
		n.Style = yaml.DoubleQuotedStyle
	case !plain(text):
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// plain reports whether a text without quotes is that text to every reader.
func plain(text string) bool {
	written, err := yaml.Marshal(text)
	return err == nil && string(written) == text+"\n"
}

func list(texts []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, text := range texts {
		n.Content = append(n.Content, scalar("!!str", text))
	}
	return n
}

// node makes a mapping, with its keys in alphabetical order.
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

// unshared copies a node without aliases, because what they point at may have been
// replaced or come later now, and without comments, which no program reads.
func unshared(n *yaml.Node, nodes *int) (*yaml.Node, error) {
	const most = 100_000
	if *nodes++; *nodes > most {
		return nil, fmt.Errorf("more than %d values, with what aliases repeat", most)
	}
	n = yamldoc.Resolve(n)
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	if blocks := yaml.LiteralStyle | yaml.FoldedStyle; c.Style&blocks != 0 {
		// Not every block that the encoder writes is read as the same text again.
		c.Style = c.Style&^blocks | yaml.DoubleQuotedStyle
	}
	if c.Value == "" && yamldoc.IsNull(c) {
		c.Value = "null" // the encoder makes an empty text of it within braces
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
