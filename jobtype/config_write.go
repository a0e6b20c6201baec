package jobtype

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// scalar returns a node with a single value, in the style of ElasticJob's own documents. A text of several lines is written
// in one, because the encoder writes some as blocks that are read as other texts.
func scalar(tag, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	switch {
	case strings.Contains(text, "\n"):
		n.Style = yaml.DoubleQuotedStyle
	case tag == "!!str" && !isPlain(text):
		n.Style = yaml.SingleQuotedStyle
	case tag != "!!str" && tag != yamldoc.PlainTag(text):
		n.Style = yaml.TaggedStyle // otherwise the encoder leaves out what another one had written
	}
	return n
}

// isPlain reports whether a text that stands without quotes is read as a text, also by YAML 1.1, which JVM members read.
// The encoder itself quotes what cannot stand without.
func isPlain(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return false
	}
	isBase60 := strings.Contains(text, ":") && strings.Trim(text, "0123456789_:.+-") == ""
	return !isBase60 && yamldoc.PlainTag(text) == "!!str"
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

// write returns the text of the document with a configuration in place of its own.
func (d document) write(c Config) ([]byte, error) {
	out, err := d.replacedBy(c)
	if err != nil {
		return nil, err
	}
	return yamldoc.Marshal(out.node(), yaml.WithCompactSeqIndent(true))
}

// checkValues bounds the values of a document that is written, with its keys: aliases can make any number of a few bytes.
func checkValues(n int) error {
	const most = 100_000
	if n > most {
		return fmt.Errorf("more than %d values, with what aliases repeat", most)
	}
	return nil
}

// unshared returns a copy of a node, in the style of scalar. It replaces aliases by copies, because the node that an alias
// points to may have been replaced, or may come later now. It leaves out comments, because no program reads them. values
// counts what has been copied.
func unshared(n *yaml.Node, values *int) (*yaml.Node, error) {
	*values++
	if err := checkValues(*values); err != nil {
		return nil, err
	}
	n = yamldoc.Resolve(n)
	if n.Kind == yaml.ScalarNode {
		return scalar(n.ShortTag(), n.Value), nil
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag}
	for _, child := range n.Content {
		child, err := unshared(child, values)
		if err != nil {
			return nil, err
		}
		c.Content = append(c.Content, child)
	}
	return c, nil
}
